// Reads the address that the site will have from SUPERPOSE_URL. Canonical links and cards need the address,
// and are left out without it.
export function siteAddress(): string | undefined {
  const setting = process.env.SUPERPOSE_URL;
  if (!setting) return undefined;
  const address = URL.canParse(setting) ? new URL(setting) : undefined;
  if (!address || !/^https?:$/.test(address.protocol) || address.search || address.hash) {
    throw new Error(
      `SUPERPOSE_URL must be the address of the site, such as https://example.org/superpose/; it is “${setting}”.`,
    );
  }
  return address.href.replace(/\/?$/, '/');
}
