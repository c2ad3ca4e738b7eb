// For the server of `npm start`: a page in development must not come from a cache, so it names no service
// worker, and there is none.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A plugin of Vite's preview server for the site in this folder. */
export const withoutServiceWorker = (dist) => ({
  name: 'without-service-worker',
  configurePreviewServer: ({ middlewares }) => {
    middlewares.use((request, response, next) => {
      const path = request.url.split('?')[0];
      if (path === '/sw.js') {
        response.writeHead(404).end();
      } else if (path === '/' || path === '/index.html') {
        const page = readFileSync(join(dist, 'index.html'), 'utf8');
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(page.replace(' data-offline="./sw.js"', ''));
      } else next();
    });
  },
});
