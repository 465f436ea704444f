import { afterAll, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartupError } from "../../process/startup-error.ts";
import { openGossipIdentity } from "./gossip-identity.ts";
import { isPeerId } from "./peer-id.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-gossip-"));
afterAll(() => rm(scratch, { recursive: true }));
let directories = 0;
const newDirectory = () => join(scratch, String(++directories), "pki");

describe("the gossip identity of a replica", () => {
  test("is kept in a file for its owner only", async () => {
    const directory = newDirectory();
    const first = await openGossipIdentity(directory, 1_000);
    expect(isPeerId(first.peerId)).toBe(true);
    expect((await stat(join(directory, "gossip.key"))).mode & 0o777).toBe(0o600);
    const again = await openGossipIdentity(directory, 2_000);
    expect(again.peerId).toBe(first.peerId);
    expect(again.privateKey).toEqual(first.privateKey);
  });

  test.each([
    ["forward", [1_000, 2_000, 3_000]],
    ["nowhere", [1_000, 1_000, 1_000]],
    ["back", [9_000, 2_000, 1_000]],
  ])("has an incarnation that grows although the clock goes %s", async (_, times) => {
    const directory = newDirectory();
    const incarnations: number[] = [];
    for (const nowMs of times) incarnations.push((await openGossipIdentity(directory, nowMs)).incarnation);
    expect(incarnations.every((incarnation, at) => at === 0 || incarnation > (incarnations[at - 1] as number))).toBe(
      true,
    );
  });

  test("differs every time without a directory", async () => {
    const [one, other] = await Promise.all([openGossipIdentity(undefined, 1), openGossipIdentity(undefined, 1)]);
    expect(one.peerId).not.toBe(other.peerId);
  });

  test("is rejected from a file that others can read", async () => {
    const directory = newDirectory();
    await openGossipIdentity(directory, 1);
    await chmod(join(directory, "gossip.key"), 0o644);
    expect(openGossipIdentity(directory, 2)).rejects.toThrow(StartupError);
  });

  test.each([
    ["rubbish", "rubbish"],
    ["nothing", ""],
  ])("is rejected from a file with %s", async (_, text) => {
    const directory = newDirectory();
    await openGossipIdentity(directory, 1);
    await writeFile(join(directory, "gossip.key"), text);
    expect(openGossipIdentity(directory, 2)).rejects.toThrow("does not hold an Ed25519 key");
    expect(await readFile(join(directory, "gossip.key"), "utf8")).toBe(text);
  });
});
