// Why a file could not be fetched. Loaded after a failure: no byte of it comes before the first figure.

/**
 * A browser does not tell a page of another site whether there was an answer. But a request whose answer cannot be read
 * needs no leave: if that gets through, the server is there and has not allowed the page to read the file.
 */
export async function reasonFor({ origin, host, href }: URL): Promise<string> {
  // Only what is on another site can lack a header.
  if ((globalThis.location?.origin ?? origin) === origin) return 'is there a network?';
  try {
    await fetch(href, { method: 'HEAD', mode: 'no-cors' });
  } catch {
    return `is there a network, and does the page’s policy allow connections to ${host}?`;
  }
  return `${host} does not send the header Access-Control-Allow-Origin with it, which other sites’ pages need.`;
}
