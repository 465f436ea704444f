import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority, type KeyPair } from "./authority.ts";
import { type CertificatePin, pinOf } from "./certificate-pin.ts";
import { authorityLifetimeMs, belongTogether, isFresh, keepPair, readPair, validity, writePair } from "./kept-pair.ts";
import { readPrivateFile, syncDirectory, writePrivateFile } from "./private-file.ts";

/**
 * An authority, and the next one during a rotation. Replicas take each step after all of them have taken the previous
 * one, so that any two always trust each other's certificates:
 *
 *     trusting   `next` is trusted, and signs nothing yet
 *     issuing    `next` signs client certificates; servers still use `authority`
 *     using      it is now `authority`; certificates signed by `former` are still trusted
 */
export interface RotatingAuthority {
  readonly authority: KeyPair;
  readonly next: KeyPair | undefined;
  readonly nextIssues: boolean;
  /** Former authority as PEM. */
  readonly former: string | undefined;
}

/** The phase of a replica during the rotation of an authority. */
export type RotationPhase = "none" | "trusting" | "issuing" | "using";

/**
 * A step. Each names its authority, so that two concurrent rotations do not mix theirs: the first step names the
 * authority that it follows, the others the one to continue.
 */
export type RotationStep =
  | { readonly step: "trust"; readonly authority: KeyPair; readonly newest: CertificatePin }
  | { readonly step: "issue" | "use" | "drop"; readonly newest: CertificatePin };

/** A step that does not follow the replica's phase. */
export class RotationError extends Error {
  override readonly name = "RotationError";
}

export interface AuthorityKind {
  /** Base name of its files, without extensions. */
  readonly file: string;
  readonly commonName: string;
  /** Whether it also signs for clients. They need certificates of the next authority before it replaces this one. */
  readonly hasClients: boolean;
}

/** The authority that signs the certificates of the API and its clients. */
export const apiAuthority: AuthorityKind = { file: "ca", commonName: "quorate-ca", hasClients: true };
/** The authority that signs only members, so that no certificate of the API gives access to the peers' port. */
export const peerAuthority: AuthorityKind = { file: "peer-ca", commonName: "quorate-peer-ca", hasClients: false };

export interface AuthorityOptions {
  readonly kind: AuthorityKind;
  /** Directory; undefined keeps it in memory. */
  readonly directory: string | undefined;
  readonly nowMs: number;
  /** Current authority in memory. */
  readonly current: RotatingAuthority | undefined;
  /** Called before the first authority is created. Throws if one should exist. */
  readonly onMissing?: () => void;
}

/**
 * Opens the authority in `directory`. Creates it if it is missing or past two thirds of its life.
 * @throws StartupError when a key file can be read by others or does not parse
 */
export async function openAuthority(options: AuthorityOptions): Promise<RotatingAuthority> {
  const { kind, directory, nowMs, current, onMissing } = options;
  if (directory !== undefined) await completeUse(kind, directory);
  const authority = await keepPair({
    directory,
    name: kind.file,
    current: current?.authority,
    isGood: (pair) => isFresh(pair, nowMs),
    make(previous) {
      if (previous === undefined) onMissing?.();
      return newAuthority(kind, nowMs, previous);
    },
  });
  if (directory === undefined) {
    return { authority, next: current?.next, nextIssues: current?.nextIssues ?? false, former: current?.former };
  }
  const { nextFile, issuesFile, formerFile } = filesOf(kind, directory);
  const kept = await readPair({ directory, name: nextFile });
  const next = kept !== undefined && belongTogether(kept) ? kept : undefined;
  const nextIssues = next !== undefined && (await readPrivateFile(issuesFile)) !== undefined;
  // A former authority beside `next` is left over from a crash at the start of "use".
  const former = next === undefined ? await readFile(formerFile, "utf8").catch(() => undefined) : undefined;
  return { authority, next, nextIssues, former };
}

/** Creates an authority, or renews a previous one with the same key, so that its certificates stay trusted. */
export function newAuthority({ commonName }: AuthorityKind, nowMs: number, previous?: KeyPair): KeyPair {
  const lifetime = validity(nowMs, authorityLifetimeMs);
  return createAuthority({ commonName, ...lifetime, ...(previous && { key: previous.key }) });
}

export function phaseOf({ next, nextIssues, former }: RotatingAuthority): RotationPhase {
  if (next !== undefined) return nextIssues ? "issuing" : "trusting";
  return former === undefined ? "none" : "using";
}

/** Returns the authority that signs client certificates. */
export function issuerOf({ authority, next, nextIssues }: RotatingAuthority): KeyPair {
  return next !== undefined && nextIssues ? next : authority;
}

/** Returns the authority that will be the only one. */
export function newestOf({ authority, next }: RotatingAuthority): CertificatePin {
  return pinOf((next ?? authority).certificate);
}

/** Returns the trusted authorities as PEM, with our own first. */
export function trustedAuthorities({ authority, next, former }: RotatingAuthority): string[] {
  return [authority.certificate, next?.certificate, former].filter((one) => one !== undefined);
}

export interface AuthorityPlace {
  readonly kind: AuthorityKind;
  /** Directory; undefined for memory only. */
  readonly directory: string | undefined;
  readonly nowMs: number;
}

/** Takes a step, on disk first. Each step may be repeated, even after a crash. @throws RotationError */
export async function takeStep(
  place: AuthorityPlace,
  current: RotatingAuthority,
  step: RotationStep,
): Promise<RotatingAuthority> {
  checkStep(place, current, step);
  if (isDone(current, step)) return current;
  const taken = afterStep(current, step);
  if (place.directory !== undefined) await writeAuthority(place.directory, place.kind, taken, current);
  return taken;
}

function checkStep({ kind, nowMs }: AuthorityPlace, current: RotatingAuthority, step: RotationStep): void {
  const { authority, next, nextIssues, former } = current;
  const refuse = (why: string) => {
    throw new RotationError(`this replica ${why}`);
  };
  if (step.step === "trust") {
    const pin = pinOf(step.authority.certificate);
    if (former !== undefined || nextIssues) refuse("is ahead: it already uses a new authority");
    if (pin === pinOf(authority.certificate)) refuse("already has this authority");
    if (!isFresh(step.authority, nowMs))
      refuse("considers that certificate expired or not yet valid: compare the clocks");
    if (step.newest !== newestOf(current) && pin !== newestOf(current)) refuse(anotherOnItsWay);
    return;
  }
  if (step.newest !== newestOf(current)) refuse(next === undefined ? "does not know that authority" : anotherOnItsWay);
  if (step.step === "drop" && next !== undefined) refuse("still uses the former authority");
  if (step.step === "issue" && !kind.hasClients) refuse("does not issue certificates of this authority");
  if (step.step === "use" && next !== undefined && kind.hasClients && !nextIssues)
    refuse("still issues client certificates of the former authority");
}

const anotherOnItsWay = "has meanwhile received another authority: wait until no other rotation runs, and start again";

/** Reports whether the step was already taken: the authority is in use. */
function isDone({ next }: RotatingAuthority, { step }: RotationStep): boolean {
  return (step === "issue" || step === "use") && next === undefined;
}

function afterStep(current: RotatingAuthority, step: RotationStep): RotatingAuthority {
  const { authority, next } = current;
  switch (step.step) {
    case "trust":
      return { ...current, next: step.authority, nextIssues: false };
    case "issue":
      return { ...current, nextIssues: true };
    case "use":
      return { authority: next ?? authority, next: undefined, nextIssues: false, former: authority.certificate };
    case "drop":
      return { ...current, former: undefined };
  }
}

/** Writes the files in such an order that the step can continue from every intermediate state. */
export async function writeAuthority(
  directory: string,
  kind: AuthorityKind,
  { authority, next, nextIssues, former }: RotatingAuthority,
  before?: RotatingAuthority,
): Promise<void> {
  const { nextFile, issuesFile, formerFile } = filesOf(kind, directory);
  if (former === undefined) await rm(formerFile, { force: true });
  else await writePrivateFile(formerFile, former);
  if (next !== undefined) {
    if (!nextIssues) await rm(issuesFile, { force: true });
    await writePair({ directory, name: nextFile }, next);
    if (nextIssues) await writePrivateFile(issuesFile, "");
  }
  if (authority !== before?.authority) {
    if (before !== undefined) await syncDirectory(directory);
    await writePair({ directory, name: kind.file }, authority);
  }
  if (next === undefined) await removeNext(kind, directory);
  await syncDirectory(directory);
}

/** Completes an interrupted "use": the key is already that of the next authority, but the certificate may not be. */
async function completeUse(kind: AuthorityKind, directory: string): Promise<void> {
  const next = await readPair({ directory, name: filesOf(kind, directory).nextFile });
  if (next === undefined || !belongTogether(next)) return;
  if ((await readPair({ directory, name: kind.file }))?.key !== next.key) return;
  await writePair({ directory, name: kind.file }, next);
  await removeNext(kind, directory);
}

async function removeNext(kind: AuthorityKind, directory: string): Promise<void> {
  const { nextFile, issuesFile } = filesOf(kind, directory);
  await rm(issuesFile, { force: true });
  for (const ending of ["crt", "key"]) await rm(join(directory, `${nextFile}.${ending}`), { force: true });
}

function filesOf({ file }: AuthorityKind, directory: string) {
  return {
    nextFile: `${file}-next`,
    issuesFile: join(directory, `${file}-next.issues`),
    formerFile: join(directory, `${file}-former.crt`),
  };
}
