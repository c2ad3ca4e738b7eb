// Says why a file could not be fetched. Pages load this only after such a failure, so that it adds no bytes
// before the first figure.

/**
 * A browser does not tell a page whether a server of another site answered. But a request whose answer
 * cannot be read needs no permission: if that succeeds, the server exists and has not allowed the page to
 * read the file.
 */
export async function reasonFor({ origin, host, href }: URL): Promise<string> {
  // Only a file of another site can lack the header. To a sandboxed frame every site is another one, even
  // its own.
  const from = globalThis.origin ?? origin;
  if (from === origin) return 'is there a network?';
  try {
    await fetch(href, { method: 'HEAD', mode: 'no-cors' });
  } catch {
    // In a sandboxed frame, WebKit matches no address with 'self'.
    const built = from === 'null' ? ' In a sandboxed frame, Safari needs a build with SUPERPOSE_URL.' : '';
    return `is there a network, and does the page’s policy allow connections to ${host}?${built}`;
  }
  return `${host} does not send the header Access-Control-Allow-Origin with it, which other sites’ pages and sandboxed frames need.`;
}
