// What the set-up downloads besides npm's packages, in the versions that are tested. For a new version,
// Debian's package index has the SHA-256. The workflows in .github must name the same Emscripten.

/** A stable suite, whose signatures apt checks. Its revision may still change, so that is left open. */
export const emscripten = { suite: 'trixie', package: 'emscripten', version: '3.1.69' };

/** Headers for any processor: one .deb each, whose path in Debian's pool gives its version. */
export const eigen = {
  name: 'Eigen 5',
  package: 'libeigen3-dev',
  version: '5.0.1-3',
  pool: 'pool/main/e/eigen3/libeigen3-dev_5.0.1-3_all.deb',
  sha256: '5c90ff45c13c89b097367c92f013a40e05704f74afdf4fe3b54b6fc14564dfa3',
};

export const rapidjson = {
  name: 'RapidJSON',
  package: 'rapidjson-dev',
  version: '1.1.0+dfsg2-7.4',
  pool: 'pool/main/r/rapidjson/rapidjson-dev_1.1.0+dfsg2-7.4_all.deb',
  sha256: 'bae757b6f8c3bac0cad89877d34f125e5533ec27e61d38dc66559a7b8a0e46bf',
};
