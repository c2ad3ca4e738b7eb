// A registry on this machine with only the packages it is given: npm installs them by name, as a reader types
// them, without a network.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Packed {
  tarball: string;
  integrity: string;
  /** The contents of its package.json. */
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
