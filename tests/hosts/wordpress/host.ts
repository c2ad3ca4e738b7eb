// WordPress on MariaDB and PHP's own server, with its database in a folder. An administrator posts, and so
// does an author, from whose post WordPress removes scripts, frames and unknown elements.
import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Host, type Pasted, type Site, waysOf } from '../support/host.ts';

export const wordpress: Host = {
  title: 'WordPress',
  debian: { php: 'php-cli', mariadbd: 'mariadb-server' },
  ways: waysOf('wordpress', ['script', 'iframe']),
  async build(site) {
    await site.run('rm', ['-rf', 'site', 'data']);
    await site.run('cp', ['-rL', '/usr/share/wordpress', 'site']);
    const started: ChildProcess[] = [];
    const start = (command: string, args: string[]) => {
      const child = spawn(command, args, { cwd: site.folder, stdio: 'ignore' });
      started.push(child);
    };
    const stop = async () => {
      for (const child of started) child.kill();
      await Promise.all(started.map((child) => new Promise((ended) => child.once('exit', ended))));
    };
    try {
      // The path of a socket must be short.
      const socket = join(tmpdir(), `superpose-wordpress-${process.pid}.sock`);
      await site.run('mariadb-install-db', [
        '--no-defaults',
        `--datadir=${join(site.folder, 'data')}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        ...asUser(),
      ]);
      start('/usr/sbin/mariadbd', [
        '--no-defaults',
        `--datadir=${join(site.folder, 'data')}`,
        `--socket=${socket}`,
        '--skip-networking',
        ...asUser(),
      ]);
      const port = await freePort();
      const address = `http://127.0.0.1:${port}/`;
      site.write('site/wp-config.php', config(socket, address));
      site.write('posts.json', JSON.stringify({ post: blocks(site) }));
      await answers(() =>
        site.run('mariadb', [
          '--no-defaults',
          `--socket=${socket}`,
          '-uroot',
          '-e',
          'CREATE DATABASE IF NOT EXISTS wordpress',
        ]),
      );
      const said = await site.run('php', ['setup.php']);
      const posts: Record<string, number> = JSON.parse(said.slice(said.lastIndexOf('{')));
      start('php', ['-S', `127.0.0.1:${port}`, '-t', 'site']);
      await answers(() => fetch(address));
      const stripped: Pasted[] = site.pasted.map((one) => ({
        ...one,
        expected: one.kind === 'iframe' ? 'link' : 'picture',
      }));
      return {
        pages: [
          { name: 'administrator', address: `${address}?p=${posts.administrator}`, ways: site.pasted },
          { name: 'author', address: `${address}?p=${posts.author}`, ways: stripped },
        ],
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  },
};

/** Paragraphs as the block editor saves them; the snippets are blocks already. */
const blocks = (site: Site) =>
  site
    .post('html')
    .replace(/^<p>Paragraph.*<\/p>$/gm, '<!-- wp:paragraph -->\n$&\n<!-- /wp:paragraph -->')
    .replace(/^<h2>.*<\/h2>$/gm, '<!-- wp:heading -->\n$&\n<!-- /wp:heading -->');

const asUser = () => (process.getuid?.() === 0 ? ['--user=root'] : []);

const config = (socket: string, address: string) => `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:${socket}');
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
define('WP_HOME', '${address.slice(0, -1)}');
define('WP_SITEURL', '${address.slice(0, -1)}');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTH_KEY', 'a test');
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;

async function answers(ask: () => Promise<unknown>): Promise<void> {
  for (let turn = 0; ; turn++) {
    try {
      await ask();
      return;
    } catch (error) {
      if (turn === 100) throw error;
      await new Promise((later) => setTimeout(later, 200));
    }
  }
}

const freePort = () =>
  new Promise<number>((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => found(port));
    });
  });
