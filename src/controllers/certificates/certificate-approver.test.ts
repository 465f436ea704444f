import "reflect-metadata";
import { afterEach, beforeEach, expect, test } from "bun:test";
import * as x509 from "@peculiar/x509";
import { until } from "../../../test/until.ts";
import { systemUser } from "../../access/authentication/system-user.ts";
import type { Decision } from "../../access/authorization/authorizer.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { certificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { startCertificateApprover } from "./certificate-approver.ts";

const scheme = Scheme.builtIn();
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const machine: UserInfo = { name: "system:bootstrap:abcdef", uid: "", groups: [], extra: new Map() };
const contextOf = (user: UserInfo): WriteContext => ({ user, manager: "test", dryRun: false, warn() {} });

let cleanup: AsyncDisposableStack;
let requests: Registry;
/** The authorizer's decision. */
let decide: () => Promise<Decision>;

beforeEach(async () => {
  const clock = new ManualClock();
  cleanup = new AsyncDisposableStack();
  const store = cleanup.adopt(new MemoryStore(), (opened) => opened.close());
  const cachers = cleanup.adopt(new CacherSet({ store, clock }), (set) => set.close());
  const authorizer = { authorize: () => ({ kind: "allow", reason: "" }) as const };
  const registries = openRegistries({
    catalog: builtInCatalog(scheme),
    store,
    cachers,
    clock,
    randomInt: () => 0,
    authorizer,
  }).registries;
  requests = registries.of(scheme.find("certificates.k8s.io", "v1", "certificatesigningrequests"));
  cleanup.use(
    startCertificateApprover({
      requests,
      requestApproval: strategyOf(certificateSigningRequest, "approval"),
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

test("a kubelet with permission gets its approval", async () => {
  decide = async () => ({ kind: "allow", reason: "" });
  await ask("system:node:n1");
  await until(() => conditions() !== undefined);
  expect(conditions()).toMatchObject([{ type: "Approved", reason: "AutoApproved" }]);
});

test("a request that replaced the checked one under its name is not approved", async () => {
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
  await until(() => questions > 1);
  await Bun.sleep(50);
  expect(conditions()).toBeUndefined();
});
