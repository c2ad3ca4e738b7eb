// Why a file could not be fetched. Loaded after a failure: no byte of it comes before the first figure.

/**
 * A browser does not tell a page of another site whether there was an answer. But a request whose answer cannot be read
 * needs no leave: if that gets through, the server is there and has not allowed the page to read the file.
 */
export async function reasonFor({ origin, host, href }: URL): Promise<string> {
  // Only what is on another site can lack a header. To a sandboxed frame every site is another, its own too.
  const from = globalThis.origin ?? origin;
  if (from === origin) return 'is there a network?';
  try {
    await fetch(href, { method: 'HEAD', mode: 'no-cors' });
  } catch {
    // WebKit takes no address for 'self' there.
    const built = from === 'null' ? ' In a sandboxed frame, Safari needs a build with SUPERPOSE_URL.' : '';
    return `is there a network, and does the page’s policy allow connections to ${host}?${built}`;
  }
  return `${host} does not send the header Access-Control-Allow-Origin with it, which other sites’ pages and sandboxed frames need.`;
}
