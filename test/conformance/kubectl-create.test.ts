import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAuthority } from "../../src/access/certificates/authority.ts";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;
beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
});
afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

/** Commands of `kubectl create`, with the object's name as printed and the expected part of the object. */
const generators: readonly [args: string, made: string, part: object][] = [
  ["namespace n", "namespace/n", { status: { phase: "Active" } }],
  ["configmap c --from-literal=a=b", "configmap/c", { data: { a: "b" } }],
  ["secret generic g --from-literal=a=b", "secret/g", { type: "Opaque", data: { a: "Yg==" } }],
  [
    "secret docker-registry r --docker-server=x --docker-username=u --docker-password=p",
    "secret/r",
    { type: "kubernetes.io/dockerconfigjson" },
  ],
  ["serviceaccount s", "serviceaccount/s", {}],
  ["deployment d --image=i --replicas=2 --port=80", "deployment.apps/d", { spec: { replicas: 2 } }],
  ["job j --image=i -- date", "job.batch/j", { spec: { backoffLimit: 6, completionMode: "NonIndexed" } }],
  ["cronjob cj --image=i --schedule=@daily -- date", "cronjob.batch/cj", { spec: { concurrencyPolicy: "Allow" } }],
  [
    "job fromcj --from=cronjob/cj",
    "job.batch/fromcj",
    { metadata: { ownerReferences: [{ kind: "CronJob", name: "cj" }] } },
  ],
  ["service clusterip ci --tcp=80:8080", "service/ci", { spec: { type: "ClusterIP", sessionAffinity: "None" } }],
  ["service clusterip hl --clusterip=None", "service/hl", { spec: { clusterIP: "None" } }],
  ["service nodeport np --tcp=80:8080", "service/np", { spec: { type: "NodePort" } }],
  [
    "service loadbalancer lb --tcp=80",
    "service/lb",
    { spec: { type: "LoadBalancer", allocateLoadBalancerNodePorts: true } },
  ],
  ["service externalname en --external-name=x.example", "service/en", { spec: { externalName: "x.example" } }],
  [
    "ingress in --rule=a.example/x*=ci:80,tls=t",
    "ingress.networking.k8s.io/in",
    { spec: { tls: [{ secretName: "t" }] } },
  ],
  ["role ro --verb=get --resource=pods", "role.rbac.authorization.k8s.io/ro", { rules: [{ verbs: ["get"] }] }],
  ["rolebinding rb --role=ro --user=u", "rolebinding.rbac.authorization.k8s.io/rb", { roleRef: { name: "ro" } }],
  ["clusterrole cr --verb=get --resource=nodes", "clusterrole.rbac.authorization.k8s.io/cr", {}],
  ["clusterrolebinding crb --clusterrole=cr --user=u", "clusterrolebinding.rbac.authorization.k8s.io/crb", {}],
  ["quota q --hard=configmaps=5", "resourcequota/q", { spec: { hard: { configmaps: "5" } } }],
  [
    "poddisruptionbudget pdb --selector=a=b --min-available=50%",
    "poddisruptionbudget.policy/pdb",
    { spec: { minAvailable: "50%" } },
  ],
  [
    "priorityclass pc --value=10",
    "priorityclass.scheduling.k8s.io/pc",
    { value: 10, preemptionPolicy: "PreemptLowerPriority" },
  ],
];

describe("create", () => {
  test.each(generators)("%s", async (args, made, part) => {
    const words = args.split(" ");
    const dry = await kubectl.ok(["create", "--dry-run=server", ...words]);
    expect(dry).toBe(`${made} created (server dry run)\n`);
    expect(await kubectl.refused(["get", made])).toContain("(NotFound)");
    expect(await kubectl.ok(["create", ...words])).toBe(`${made} created\n`);
    expect(await kubectl.get([made])).toMatchObject(part);
    expect(await kubectl.refused(["create", ...words])).toContain("already exists");
  });

  test("secret tls", async () => {
    const hourMs = 3_600_000;
    const pair = createAuthority({
      commonName: "x",
      notBeforeMs: Date.now() - hourMs,
      notAfterMs: Date.now() + hourMs,
    });
    const cert = await kubectl.file("tls.crt", pair.certificate);
    const key = await kubectl.file("tls.key", pair.key);
    expect(await kubectl.ok(["create", "secret", "tls", "t", `--cert=${cert}`, `--key=${key}`])).toBe(
      "secret/t created\n",
    );
    expect(await kubectl.get(["secret", "t"])).toMatchObject({ type: "kubernetes.io/tls" });
  });

  test("token", async () => {
    const token = (await kubectl.ok(["create", "token", "default", "--duration=10m"])).trim();
    expect(token.split(".")).toHaveLength(3);
    expect(await kubectl.refused(["create", "token", "nobody"])).toContain('serviceaccounts "nobody" not found');
  });

  test("run makes a pod", async () => {
    expect(await kubectl.ok(["run", "p", "--image=i", "--labels=a=b", "--env=X=1", "--port=80"])).toBe(
      "pod/p created\n",
    );
    expect((await kubectl.get(["pod", "p"])).spec.containers).toMatchObject([
      { name: "p", image: "i", env: [{ name: "X", value: "1" }], ports: [{ containerPort: 80, protocol: "TCP" }] },
    ]);
  });
});
