// What the set-up downloads besides npm's packages, in the versions that are tested. For a new version,
// Debian's package index has the SHA-256. The workflows in .github must name the same Emscripten.

/** A stable suite, whose signatures apt checks. Its revision may still change, so that is left open. */
export const emscripten = { suite: 'trixie', package: 'emscripten', version: '3.1.69' };

/** Of a stable suite too. Only the native tests read it. */
export const rapidjson = {
  name: 'RapidJSON',
  suite: 'trixie',
  package: 'rapidjson-dev',
  version: '1.1.0',
};

/**
 * No stable suite has Eigen 5 yet. One .deb in Debian's pool, whose path gives its version; it leaves the pool
 * when its next revision comes. Then the signed index of `suite` leads to that revision of the same version.
 */
export const eigen = {
  name: 'Eigen 5',
  package: 'libeigen3-dev',
  version: '5.0.1',
  revision: '3',
  pool: 'pool/main/e/eigen3/libeigen3-dev_5.0.1-3_all.deb',
  sha256: '5c90ff45c13c89b097367c92f013a40e05704f74afdf4fe3b54b6fc14564dfa3',
  suite: 'forky',
};
