// Names what the set-up downloads besides npm's packages, in the versions that are tested. apt checks each
// suite's signature. Debian's revisions may change, so they are left open. The workflows in .github must
// name the same Emscripten.

export const emscripten = { suite: 'trixie', package: 'emscripten', version: '3.1.69' };

/** No stable suite has Eigen 5 yet. */
export const eigen = { suite: 'forky', package: 'libeigen3-dev', version: '5.0.1' };
