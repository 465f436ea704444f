import { afterAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinOf } from "./certificate-pin.ts";
import { type Certificates, openCertificates } from "./certificates.ts";
import { KeptCertificates } from "./kept-certificates.ts";
import { isSignedBy } from "./kept-pair.ts";
import {
  apiAuthority,
  newAuthority,
  newestOf,
  phaseOf,
  type RotatingAuthority,
  type RotationStep,
  trustedAuthorities,
} from "./rotating-authority.ts";
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
type Kept = { readonly current: RotatingAuthority };
const to = ({ current }: Kept, step: "issue" | "use" | "drop"): RotationStep => ({ step, newest: newestOf(current) });
const trust = ({ current }: Kept, authority = newAuthority(apiAuthority, clock.ms)): RotationStep => {
  return { step: "trust", authority, newest: newestOf(current) };
};

describe.each(["on disk", "in memory"])("the authority of the API, %s,", (where) => {
  test("is replaced in four steps, and at each its servers and clients trust each other", async () => {
    const directory = where === "on disk" ? newDirectory() : undefined;
    const kept = await openAt(directory);
    const first = kept.current;
    const next = newAuthority(apiAuthority, clock.ms);
    const [former, newest] = [first.authority, next];
    const expected = [
      [() => trust(kept, next), "trusting", former, former, [former, newest]],
      [() => to(kept, "issue"), "issuing", former, newest, [former, newest]],
      [() => to(kept, "use"), "using", newest, newest, [newest, former]],
      [() => to(kept, "drop"), "none", newest, newest, [newest]],
    ] as const;
    for (const [step, phase, serves, signsClients, trusted] of expected) {
      await kept.rotate(step());
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

test("a step that does not follow a replica's phase is rejected, and a repeated one changes nothing", async () => {
  const kept = await openAt(undefined);
  await expect(kept.rotate(trust(kept, kept.current.authority))).rejects.toThrow(/already has this authority/);
  const next = newAuthority(apiAuthority, clock.ms);
  const newest = pinOf(next.certificate);
  await expect(kept.rotate({ step: "issue", newest })).rejects.toThrow(/does not know that authority/);
  await kept.rotate(to(kept, "drop"));
  await kept.rotate(trust(kept));
  await expect(kept.rotate(to(kept, "use"))).rejects.toThrow(/still issues client certificates of the former/);
  // Start again, because it has signed nothing.
  await kept.rotate(trust(kept, next));
  for (const step of ["issue", "use", "drop"] as const) {
    if (step !== "issue") await expect(kept.rotate(trust(kept))).rejects.toThrow(/is ahead|another/);
    if (step === "use") await expect(kept.rotate(to(kept, "drop"))).rejects.toThrow(/still uses the former authority/);
    await kept.rotate({ step, newest });
    const taken = kept.current;
    await kept.rotate({ step, newest });
    expect(kept.current).toEqual(taken);
  }
});

test("a step towards an unknown authority is rejected", async () => {
  const kept = await openAt(undefined);
  const before = newestOf(kept.current);
  const [one, other] = [newAuthority(apiAuthority, clock.ms), newAuthority(apiAuthority, clock.ms)];
  const refusal = /meanwhile received another authority: wait until no other rotation runs/;
  await kept.rotate({ step: "trust", authority: one, newest: before });
  await expect(kept.rotate({ step: "trust", authority: other, newest: before })).rejects.toThrow(refusal);
  const newest = pinOf(other.certificate);
  await expect(kept.rotate({ step: "issue", newest })).rejects.toThrow(refusal);
  await kept.rotate(to(kept, "issue"));
  await expect(kept.rotate({ step: "use", newest })).rejects.toThrow(refusal);
  await kept.rotate(to(kept, "use"));
  await expect(kept.rotate({ step: "drop", newest })).rejects.toThrow(/does not know that authority/);
  expect(phaseOf(kept.current)).toBe("using");
});

test.each([
  ["begins tomorrow", 24],
  ["was made ten years ago", -24 * 3_650],
])("an authority that %s here is rejected, because the clock of its creator is wrong", async (_, hours) => {
  const kept = await openAt(undefined);
  const authority = newAuthority(apiAuthority, clock.ms + hours * 3_600_000);
  await expect(kept.rotate(trust(kept, authority))).rejects.toThrow(/compare the clocks/);
  expect(phaseOf(kept.current)).toBe("none");
});

test("after a step that could not be written, the next one continues from the state on disk", async () => {
  const directory = newDirectory();
  const kept = await openAt(directory);
  await kept.rotate(trust(kept));
  await kept.rotate(to(kept, "issue"));
  // This step writes the authority's key first.
  const obstacle = join(directory, `ca.crt.${process.pid}.tmp`);
  await mkdir(join(obstacle, "full"), { recursive: true });
  const newest = newestOf(kept.current);
  await expect(kept.rotate({ step: "use", newest })).rejects.toThrow();
  expect(phaseOf(kept.current)).toBe("issuing");
  await rm(obstacle, { recursive: true });
  await kept.rotate({ step: "use", newest });
  expect([phaseOf(kept.current), newestOf(kept.current)]).toEqual(["using", newest]);
  await kept.rotate({ step: "drop", newest });
  expect((await openAt(directory)).current).toEqual(kept.current);
  expect((await readdir(directory)).filter((name) => /next|former|tmp/.test(name))).toEqual([]);
});

test("a step fails until its consequences are complete, and repeating it completes them", async () => {
  const kept = await openAt(undefined);
  let isFull = true;
  let told = 0;
  using _ = kept.keepFresh(
    async () => {
      if (isFull) throw new Error("no space is left");
      told++;
    },
    () => {},
  );
  const step = trust(kept);
  await expect(kept.rotate(step)).rejects.toThrow(/no space/);
  isFull = false;
  await kept.rotate(step);
  expect([told, phaseOf(kept.current)]).toEqual([1, "trusting"]);
});
