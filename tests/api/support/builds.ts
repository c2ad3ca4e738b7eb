// Both builds of the module, if the engine runs both. Every test body runs in each.
import { load, type Simd, supportedSimd } from 'add-or-concatenate';

const simds: readonly Simd[] = supportedSimd() === 'relaxed' ? ['plain', 'relaxed'] : ['plain'];

export const builds: readonly { simd: Simd; superpose: Awaited<ReturnType<typeof load>> }[] =
  await Promise.all(simds.map(async (simd) => ({ simd, superpose: await load({ simd }) })));

/** The plain build: the one that runs everywhere. */
export const { superpose: plain } = builds[0] as (typeof builds)[0];
/** The relaxed build, or the plain one again where there is no other. */
export const { superpose: relaxed } = builds[builds.length - 1] as (typeof builds)[0];
/** True where the engine has no relaxed SIMD, so there is nothing to compare. */
export const oneBuild = builds.length === 1;
