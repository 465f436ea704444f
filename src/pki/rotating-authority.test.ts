import { afterAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificates, openCertificates } from "./certificates.ts";
import { KeptCertificates } from "./kept-certificates.ts";
import { isSignedBy } from "./kept-pair.ts";
import { apiAuthority, newAuthority, phaseOf, type RotationStep, trustedAuthorities } from "./rotating-authority.ts";
import { StepClock } from "./testing.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-rotation-"));
afterAll(() => rm(scratch, { recursive: true }));
const clock = new StepClock();
let directories = 0;

async function openAt(directory: string | undefined): Promise<KeptCertificates<Certificates>> {
  const open = (current?: Certificates) =>
    openCertificates({ directory, bindAddress: "127.0.0.1", nowMs: clock.ms, current });
  return new KeptCertificates<Certificates>({ clock, kind: apiAuthority, directory, current: await open(), open });
}

const newDirectory = () => join(scratch, String(++directories));
const trust = (): RotationStep => ({ step: "trust", authority: newAuthority(apiAuthority, clock.ms) });

describe.each(["on disk", "in memory"])("the authority of the API, %s,", (where) => {
  test("takes the place of another in four steps, and at each its servers and clients know each other", async () => {
    const directory = where === "on disk" ? newDirectory() : undefined;
    const kept = await openAt(directory);
    const first = kept.current;
    const step = trust();
    const next = (step as { authority: Certificates["authority"] }).authority;
    const [former, newest] = [first.authority, next];
    const expected = [
      [step, "trusting", former, former, [former, newest]],
      [{ step: "issue" }, "issuing", former, newest, [former, newest]],
      [{ step: "use" }, "using", newest, newest, [newest, former]],
      [{ step: "drop" }, "none", newest, newest, [newest]],
    ] as const;
    for (const [taken, phase, serves, signsClients, trusted] of expected) {
      await kept.rotate(taken);
      const { serving, admin, token, serviceAccountKey } = kept.current;
      expect(phaseOf(kept.current)).toBe(phase);
      expect([isSignedBy(serving, serves), isSignedBy(admin, signsClients)]).toEqual([true, true]);
      expect(trustedAuthorities(kept.current)).toEqual(trusted.map(({ certificate }) => certificate));
      expect({ token, serviceAccountKey }).toEqual({ token: first.token, serviceAccountKey: first.serviceAccountKey });
      if (directory !== undefined) expect((await openAt(directory)).current).toEqual(kept.current);
    }
    if (directory !== undefined) {
      expect((await readdir(directory)).filter((name) => /next|former|tmp/.test(name))).toEqual([]);
    }
  });
});

test("a step that does not follow from where a replica is, is refused, and one that is repeated changes nothing", async () => {
  const kept = await openAt(undefined);
  const own = kept.current.authority;
  await expect(kept.rotate({ step: "trust", authority: own })).rejects.toThrow(/has this authority already/);
  await expect(kept.rotate({ step: "issue" })).rejects.toThrow(/told of no new authority/);
  await kept.rotate({ step: "drop" });
  await kept.rotate(trust());
  await expect(kept.rotate({ step: "use" })).rejects.toThrow(/certificates of the former authority still/);
  // Begun anew: it has signed nothing.
  await kept.rotate(trust());
  await kept.rotate({ step: "issue" });
  const issuing = kept.current;
  await kept.rotate({ step: "issue" });
  expect(kept.current).toEqual(issuing);
  await expect(kept.rotate(trust())).rejects.toThrow(/further on/);
  await expect(kept.rotate({ step: "drop" })).rejects.toThrow(/uses the former authority still/);
  await kept.rotate({ step: "use" });
  await expect(kept.rotate({ step: "use" })).rejects.toThrow(/told of no new authority/);
});

/** Files in the order in which the step writes them; "-" is one that is removed. */
const orders: Record<string, readonly string[]> = {
  trust: ["ca-next.key", "ca-next.crt"],
  issue: ["ca-next.issues"],
  use: ["ca-former.crt", "ca.key", "ca.crt", "-ca-next.issues", "-ca-next.crt", "-ca-next.key"],
  drop: ["-ca-former.crt"],
};

test.each(Object.keys(orders))("a crash in the middle of '%s' leaves a state that is gone on from", async (name) => {
  const steps: RotationStep[] = [trust(), { step: "issue" }, { step: "use" }, { step: "drop" }];
  const at = steps.findIndex(({ step }) => step === name);
  const [before, after] = [newDirectory(), newDirectory()];
  const kept = await openAt(before);
  for (const step of steps.slice(0, at)) await kept.rotate(step);
  cpSync(before, after, { recursive: true });
  const wanted = await openAt(after);
  await wanted.rotate(steps[at] as RotationStep);
  const order = orders[name] ?? [];
  for (let written = 0; written <= order.length; written++) {
    const directory = newDirectory();
    cpSync(before, directory, { recursive: true });
    for (const file of order.slice(0, written)) {
      if (file.startsWith("-")) await rm(join(directory, file.slice(1)));
      else await writeFile(join(directory, file), await readFile(join(after, file)), { mode: 0o600 });
    }
    const reopened = await openAt(directory);
    const done = phaseOf(reopened.current) === phaseOf(wanted.current);
    if (!done) await reopened.rotate(steps[at] as RotationStep);
    const pick = ({ authority, next, nextIssues, former }: Certificates) => ({ authority, next, nextIssues, former });
    expect({ written, ...pick(reopened.current) }).toEqual({ written, ...pick(wanted.current) });
  }
});
