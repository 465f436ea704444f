import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveOptions } from "../../server/config/server-options.ts";
import { pinOf, pinsOf } from "./certificate-pin.ts";
import { ServerIdentity } from "./identity.ts";
import { apiAuthority, newAuthority, newestOf } from "./rotating-authority.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-identity-"));
afterAll(() => rm(scratch, { recursive: true }));

test("a step fails while the kubeconfig cannot be written, and succeeds when it is repeated", async () => {
  const kubeconfig = join(scratch, "kubeconfig");
  const config = resolveOptions({ inMemory: true, kubeconfig });
  const identity = await ServerIdentity.open(config);
  const errors: unknown[] = [];
  const reloaded: number[] = [];
  using _ = identity.keepFresh(
    { clock: config.clock, renews: true },
    ({ ca }) => reloaded.push(ca.length),
    (error) => errors.push(error),
  );
  await identity.publish("https://127.0.0.1:6443");
  await writeFile(kubeconfig, "apiVersion: v1 # of somebody else");
  const authority = newAuthority(apiAuthority, config.clock.nowMs());
  const step = { step: "trust", authority, newest: newestOf(identity.rotating) } as const;
  await expect(identity.rotate(step)).rejects.toThrow(/was not written by quorate/);
  await rm(kubeconfig);
  await identity.rotate(step);
  const written = Bun.YAML.parse(await readFile(kubeconfig, "utf8")) as any;
  const bundle = Buffer.from(written.clusters[0].cluster["certificate-authority-data"], "base64").toString();
  expect(pinsOf(bundle)).toContain(pinOf(authority.certificate));
  expect({ errors, reloaded }).toEqual({ errors: [], reloaded: [2, 2] });
});
