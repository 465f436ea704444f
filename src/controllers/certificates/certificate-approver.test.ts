import "reflect-metadata";
import { afterEach, beforeEach, expect, test } from "bun:test";
import * as x509 from "@peculiar/x509";
import { systemUser } from "../../access/authentication/system-user.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { Decision } from "../../access/authorization/authorizer.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { strategyOf, subresourceStrategyOf } from "../../kinds/strategies.ts";
import { Scheme } from "../../api/scheme/scheme.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { startCertificateApprover } from "./certificate-approver.ts";

const scheme = Scheme.builtIn();
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const machine: UserInfo = { name: "system:bootstrap:abcdef", uid: "", groups: [], extra: new Map() };
const contextOf = (user: UserInfo): WriteContext => ({ user, manager: "test", dryRun: false, warn() {} });

let cleanup: AsyncDisposableStack;
let requests: Registry;
/** What the authorizer answers when it is asked. */
let decide: () => Promise<Decision>;

beforeEach(async () => {
  const clock = new ManualClock();
  cleanup = new AsyncDisposableStack();
  const store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock }), (set) => set.close());
  const authorizer = { authorize: () => ({ kind: "allow", reason: "" }) as const };
  const registries = new Registries({ scheme, store, cachers, clock, randomInt: () => 0, authorizer });
  requests = registries.of(scheme.find("certificates.k8s.io", "v1", "certificatesigningrequests"));
  const { info } = requests;
  cleanup.use(
    startCertificateApprover({
      requests,
      requestApproval: subresourceStrategyOf(info, "approval") ?? strategyOf(info),
      store,
      clock,
      authorizer: { authorize: () => decide() },
      onError: (error) => {
        throw error;
      },
    }),
  );
});
afterEach(() => cleanup.disposeAsync());

async function ask(commonName: string): Promise<void> {
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const subject = `CN=${commonName}, O=system:nodes`;
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
  });
  const spec = {
    request: Buffer.from(made.toString("pem")).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: ["digital signature", "client auth"],
  };
  const object = { kind: "CertificateSigningRequest", apiVersion: "certificates.k8s.io/v1", metadata: { name: "r" } };
  await requests.create({ ...object, spec }, "", contextOf(machine));
}

const conditions = () => (requests.current("", "r")?.["status"] as { conditions?: object[] } | undefined)?.conditions;
/** Waits for what holds soon, or for as long as what must not happen would take. */
async function within(ms: number, holds: () => boolean): Promise<void> {
  for (const end = performance.now() + ms; !holds() && performance.now() < end; ) await Bun.sleep(2);
}

test("a kubelet that may have it gets its approval", async () => {
  decide = async () => ({ kind: "allow", reason: "" });
  await ask("system:node:n1");
  await within(2_000, () => conditions() !== undefined);
  expect(conditions()).toMatchObject([{ type: "Approved", reason: "AutoApproved" }]);
});

test("a request that took the name of the one that was looked at is not approved for it", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Decision>();
  let questions = 0;
  decide = async () => {
    if (questions++ > 0) return { kind: "noOpinion", reason: "" };
    asked.resolve();
    return answer.promise;
  };
  await ask("system:node:n1");
  await asked.promise;
  const first = requests.current("", "r");
  if (first === undefined) throw new Error("it is gone");
  await removeObject(requests, first, contextOf(systemUser));
  await ask("system:node:other");
  answer.resolve({ kind: "allow", reason: "" });
  await within(200, () => conditions() !== undefined);
  expect(questions).toBeGreaterThan(1);
  expect(conditions()).toBeUndefined();
});
