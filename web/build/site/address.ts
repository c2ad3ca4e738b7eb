// The address that the site will have, if SUPERPOSE_URL gives it. Search engines and cards need whole addresses; without
// one they are left out.
export function siteAddress(): string | undefined {
  const given = process.env.SUPERPOSE_URL;
  if (!given) return undefined;
  const address = URL.parse?.(given) ?? (URL.canParse(given) ? new URL(given) : undefined);
  if (!address || !/^https?:$/.test(address.protocol) || address.search || address.hash) {
    throw new Error(
      `SUPERPOSE_URL must be the address of the site, such as https://example.org/superpose/; it is “${given}”.`,
    );
  }
  return address.href.replace(/\/?$/, '/');
}
