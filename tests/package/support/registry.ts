// A registry on this machine, which has the packages that it is given and no other: npm installs them by
// their names, as a reader types them, without a network.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Packed {
  tarball: string;
  integrity: string;
  /** What its package.json says. */
  manifest: { name: string; version: string };
}

export async function startRegistry(packages: Packed[]) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const found = packages.find(({ manifest }) => path === manifest.name || path === `${manifest.name}.tgz`);
    if (!found) return response.writeHead(404).end('{}');
    if (path.endsWith('.tgz')) return response.end(readFileSync(found.tarball));
    const { manifest, integrity } = found;
    const dist = { tarball: `${address}/${manifest.name}.tgz`, integrity };
    return response.end(
      JSON.stringify({
        name: manifest.name,
        'dist-tags': { latest: manifest.version },
        versions: { [manifest.version]: { ...manifest, dist } },
      }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
