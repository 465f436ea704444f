import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../process/clock.ts";
import { kubeconfigWebhookCredentials } from "./webhook-credentials.ts";

const folder = mkdtempSync(join(tmpdir(), "credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

function credentials(names: readonly string[], current?: string) {
  const file = join(folder, "kubeconfig");
  const users = names.map((name) => ({ name, user: { token: `for ${name}` } }));
  const context = { name: "c", context: { user: current } };
  writeFileSync(
    file,
    JSON.stringify({ users, contexts: [context], ...(current === undefined ? {} : { "current-context": "c" }) }),
  );
  return kubeconfigWebhookCredentials(file, systemClock);
}

test.each<[names: string[], authority: string, found: string | undefined]>([
  [["h.ns.svc:443", "h.ns.svc", "*"], "h.ns.svc:443", "h.ns.svc:443"],
  [["h.ns.svc", "*.ns.svc", "*"], "h.ns.svc:443", "h.ns.svc"],
  [["*.svc", "*.ns.svc:443"], "h.ns.svc:443", "*.ns.svc:443"],
  [["*.svc", "*"], "h.ns.svc:443", "*.svc"],
  [["h.ns.svc", "*"], "h.ns.svc:8443", "*"],
  [["other"], "h.ns.svc:443", undefined],
])("of the users %j, %s is told %s", async (names, authority, found) => {
  const { authorization } = await credentials(names).proofFor(authority);
  expect(authorization).toBe(found === undefined ? undefined : `Bearer for ${found}`);
});

test("the user of the current context stands for all others", async () => {
  expect((await credentials(["me"], "me").proofFor("h:443")).authorization).toBe("Bearer for me");
});
