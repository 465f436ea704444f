import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

const timeoutMs = 60_000;

let server: RunningServer;
let kubectl: Kubectl;

/** A three-tier application, a batch pipeline, and their surroundings. */
const application = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "registry.example/web:1", ports: [{containerPort: 8080}], resources: {requests: {cpu: 100m, memory: 64Mi}}}
      - {name: side, image: "registry.example/side:1"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "registry.example/db:1", volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {nodeSelector: {disk: ssd}, containers: [{name: agent, image: "registry.example/agent:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  timeZone: Etc/UTC
  jobTemplate:
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: report, image: "registry.example/report:1"}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: load}
spec:
  completions: 4
  parallelism: 2
  template: {spec: {restartPolicy: OnFailure, containers: [{name: load, image: "registry.example/load:1"}]}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  ingressClassName: nginx
  tls: [{hosts: [web.example], secretName: web}]
  rules: [{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: shared}
spec: {accessModes: [ReadWriteMany], storageClassName: nfs, resources: {requests: {storage: 5Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  hostPath: {path: /disk}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: db}
spec: {podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, max: {cpu: "2"}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/disk
`;

beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
  const printed = await kubectl.apply(application);
  expect(printed.trim().split("\n")).toHaveLength(13);
}, timeoutMs);

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

/** Returns the cells of a printed table without ages, which vary. */
function rowsOf(printed: string): string[][] {
  const [head = "", ...lines] = printed.trimEnd().split("\n");
  const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map(({ index, 0: name }) => ({ index, name }));
  const kept = starts.filter(({ name }) => name !== "AGE");
  return lines.map((line) =>
    kept.map(({ index }) => {
      const next = starts.find((start) => start.index > index)?.index ?? line.length;
      return line.slice(index, next).trim();
    }),
  );
}

test(
  "the application applied again changes nothing, and its difference is empty",
  async () => {
    const versions = async () => {
      const list = await kubectl.ok(["get", "-f", "-", "-o", "json"], { input: application });
      return JSON.parse(list).items.map(({ metadata }: any) => metadata.resourceVersion);
    };
    const before = await versions();
    const printed = await kubectl.apply(application);
    // kubectl compares lists without a key, and atomic fields, before they have their defaults.
    const compared = ["statefulset.apps/db", "poddisruptionbudget.policy/web", "limitrange/limits"];
    for (const line of printed.trim().split("\n")) {
      expect(line).toEndWith(compared.some((object) => line.startsWith(object)) ? " configured" : " unchanged");
    }
    expect(await versions()).toEqual(before);
    const { code, stdout } = await kubectl.run(["diff", "-f", "-"], { input: application });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  },
  timeoutMs,
);

describe("get -o wide", () => {
  const images = "registry.example/web:1,registry.example/side:1";
  test.each([
    ["deployment/web", [["web", "0/3", "0", "0", "web,side", images, "app=web"]]],
    ["statefulset/db", [["db", "0/1", "db", "registry.example/db:1"]]],
    [
      "daemonset/agent",
      [["agent", "0", "0", "0", "0", "0", "disk=ssd", "agent", "registry.example/agent:1", "app=agent"]],
    ],
    [
      "cronjob/nightly",
      [["nightly", "0 3 * * *", "Etc/UTC", "False", "0", "<none>", "report", "registry.example/report:1", "<none>"]],
    ],
    ["service/db", [["db", "ClusterIP", "None", "<none>", "5432/TCP", "app=db"]]],
    ["ingress/web", [["web", "nginx", "web.example", "", "80, 443"]]],
    ["pdb/web", [["web", "2", "N/A", "0"]]],
    ["pvc/shared", [["shared", "Pending", "", "", "", "nfs", "<unset>", "Filesystem"]]],
    ["pv/disk", [["disk", "20Gi", "RWO", "Retain", "Pending", "", "fast", "<unset>", "", "Filesystem"]]],
    ["networkpolicy/db", [["db", "app=db"]]],
    ["storageclass/fast", [["fast (default)", "example.com/disk", "Delete", "Immediate", "false"]]],
    ["namespace/default", [["default", "Active"]]],
    ["serviceaccount/default", [["default"]]],
  ])("%s", async (object, rows) => {
    const printed = await kubectl.ok(["get", object, "-o", "wide"]);
    expect(rowsOf(printed)).toEqual(rows as string[][]);
  });

  test("a job shows its completions and its duration", async () => {
    const printed = await kubectl.ok(["get", "job/load"]);
    expect(rowsOf(printed)).toEqual([["load", "Running", "0/4", ""]]);
    const status = {
      startTime: "2026-01-01T00:00:00Z",
      completionTime: "2026-01-01T00:03:20Z",
      succeeded: 4,
      uncountedTerminatedPods: {},
    };
    const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True" }));
    const patch = JSON.stringify({ status: { ...status, conditions } });
    await kubectl.ok(["patch", "job/load", "--subresource=status", "--type=merge", "-p", patch]);
    expect(rowsOf(await kubectl.ok(["get", "job/load"]))).toEqual([["load", "Complete", "4/4", "3m20s"]]);
  });
});

describe("describe", () => {
  test.each([
    [
      "deployment/web",
      ["Replicas:", "3 desired", "StrategyType:           RollingUpdate", "web:", "Port:       8080/TCP"],
    ],
    ["statefulset/db", ["Volume Claims:", "Capacity:      10Gi", "Update Strategy:    RollingUpdate"]],
    ["daemonset/agent", ["Node-Selector:  disk=ssd", "Pods Status:  0 Running"]],
    ["cronjob/nightly", ["0 3 * * *", "Concurrency Policy:            Allow", "Successful Job History Limit:  3"]],
    ["job/load", ["Parallelism:", "Completion Mode:", "NonIndexed"]],
    ["service/db", ["Type:", "ClusterIP", "IP:                       None", "TargetPort:               5432/TCP"]],
    ["ingress/web", ["web.example", "Ingress Class:    nginx", "web terminates web.example"]],
    ["pdb/web", ["Min available:  2", "Selector:       app=web"]],
    [
      "pvc/shared",
      ["StorageClass:  nfs", "Finalizers:    [kubernetes.io/pvc-protection]", "VolumeMode:    Filesystem"],
    ],
    ["pv/disk", ["Reclaim Policy:  Retain", "Capacity:        20Gi", "Path:          /disk"]],
    ["networkpolicy/db", ["PodSelector:     app=db", "Policy Types: Ingress"]],
    ["limitrange/limits", ["Container", "cpu"]],
    ["storageclass/fast", ["IsDefaultClass:  Yes", "Provisioner:           example.com/disk"]],
    ["namespace/default", ["Status:       Active", "Resource Limits"]],
    ["serviceaccount/default", ["Tokens:"]],
  ])("%s", async (object, lines) => {
    const printed = await kubectl.ok(["describe", object]);
    for (const line of lines) expect(printed).toContain(line);
  });
});

describe("scale", () => {
  test.each(["deployment/web", "statefulset/db"])(
    "%s to a number, from the number that is expected",
    async (object) => {
      const resource = object.replace("/", ".apps/");
      expect(await kubectl.ok(["scale", object, "--replicas=5"])).toBe(`${resource} scaled\n`);
      expect(await kubectl.ok(["get", object, "-o", "jsonpath={.spec.replicas}"])).toBe("5");
      expect(await kubectl.refused(["scale", object, "--replicas=2", "--current-replicas=3"])).toBe(
        "error: Expected replicas to be 3, was 5",
      );
      await kubectl.ok(["scale", object, "--replicas=2", "--current-replicas=5"]);
      expect(await kubectl.ok(["get", object, "-o", "jsonpath={.spec.replicas}"])).toBe("2");
      expect(await kubectl.ok(["get", object, "--subresource=scale", "-o", "jsonpath={.status.selector}"])).toMatch(
        /^app=(web|db)$/,
      );
    },
  );

  test("a kind that has no number of replicas is refused", async () => {
    expect(await kubectl.refused(["scale", "daemonset/agent", "--replicas=2"])).toContain(
      "the server could not find the requested resource",
    );
  });

  test("--dry-run=server changes nothing", async () => {
    const before = await kubectl.ok([
      "get",
      "deployment/web",
      "-o",
      "jsonpath={.spec.replicas} {.metadata.resourceVersion}",
    ]);
    await kubectl.ok(["scale", "deployment/web", "--replicas=9", "--dry-run=server"]);
    expect(
      await kubectl.ok(["get", "deployment/web", "-o", "jsonpath={.spec.replicas} {.metadata.resourceVersion}"]),
    ).toBe(before);
  });
});

test(
  "autoscale makes an autoscaler whose targets are shown",
  async () => {
    const made = await kubectl.ok(["autoscale", "deployment", "web", "--min=2", "--max=5", "--cpu-percent=80"]);
    expect(made).toBe("horizontalpodautoscaler.autoscaling/web autoscaled\n");
    expect(rowsOf(await kubectl.ok(["get", "hpa", "web"]))).toEqual([
      ["web", "Deployment/web", "cpu: <unknown>/80%", "2", "5", "0"],
    ]);
    const metric = {
      type: "Resource",
      resource: { name: "cpu", current: { averageUtilization: 41, averageValue: "41m" } },
    };
    const patch = JSON.stringify({ status: { currentReplicas: 3, desiredReplicas: 3, currentMetrics: [metric] } });
    await kubectl.ok(["patch", "hpa.v2.autoscaling/web", "--subresource=status", "--type=merge", "-p", patch]);
    expect(rowsOf(await kubectl.ok(["get", "hpa", "web"]))).toEqual([
      ["web", "Deployment/web", "cpu: 41%/80%", "2", "5", "3"],
    ]);
    expect(await kubectl.ok(["describe", "hpa", "web"])).toContain("41% (41m) / 80%");
  },
  timeoutMs,
);

describe("set and rollout", () => {
  test(
    "set image, env, resources and serviceaccount change the template",
    async () => {
      expect(await kubectl.ok(["set", "image", "deployment/web", "web=registry.example/web:2"])).toBe(
        "deployment.apps/web image updated\n",
      );
      await kubectl.ok(["set", "env", "deployment/web", "-c", "web", "LEVEL=debug"]);
      await kubectl.ok(["set", "resources", "deployment/web", "-c", "web", "--limits=cpu=1"]);
      await kubectl.ok(["set", "serviceaccount", "deployment/web", "default"]);
      const { spec } = (await kubectl.get(["deployment", "web"])).spec.template;
      expect(spec.containers[0]).toMatchObject({
        image: "registry.example/web:2",
        env: [{ name: "LEVEL", value: "debug" }],
        resources: { limits: { cpu: "1" }, requests: { cpu: "100m", memory: "64Mi" } },
      });
      expect(spec.containers[1].image).toBe("registry.example/side:1");
      expect(spec.serviceAccountName).toBe("default");
    },
    timeoutMs,
  );

  test(
    "restart stamps the template, pause and resume hold the rollout",
    async () => {
      expect(await kubectl.ok(["rollout", "restart", "deployment/web"])).toBe("deployment.apps/web restarted\n");
      const { template } = (await kubectl.get(["deployment", "web"])).spec;
      expect(template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]).toMatch(/^20/);
      expect(await kubectl.ok(["rollout", "pause", "deployment/web"])).toBe("deployment.apps/web paused\n");
      expect(await kubectl.refused(["rollout", "restart", "deployment/web"])).toContain(
        "can't restart paused deployment",
      );
      expect(await kubectl.ok(["rollout", "resume", "deployment/web"])).toBe("deployment.apps/web resumed\n");
    },
    timeoutMs,
  );

  test(
    "history lists the revisions that the controller has made",
    async () => {
      const { metadata, spec } = await kubectl.get(["deployment", "web"]);
      for (const revision of ["1", "2"]) {
        const labels = { app: "web", "pod-template-hash": `h${revision}` };
        const template = { ...spec.template, metadata: { labels } };
        await kubectl.apply({
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          metadata: {
            name: `web-${revision}`,
            labels,
            annotations: {
              "deployment.kubernetes.io/revision": revision,
              "kubernetes.io/change-cause": `cause ${revision}`,
            },
            ownerReferences: [
              { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid, controller: true },
            ],
          },
          spec: { replicas: 0, selector: { matchLabels: labels }, template },
        });
      }
      const history = await kubectl.ok(["rollout", "history", "deployment/web"]);
      expect(history).toMatch(/^1 +cause 1$/m);
      expect(history).toMatch(/^2 +cause 2$/m);
      expect(await kubectl.ok(["rollout", "history", "deployment/web", "--revision=2"])).toContain(
        "registry.example/web:2",
      );
    },
    timeoutMs,
  );

  test(
    "status waits for the controller's report",
    async () => {
      const { metadata, spec } = await kubectl.get(["deployment", "web"]);
      const counts = { replicas: spec.replicas, updatedReplicas: spec.replicas, readyReplicas: spec.replicas };
      const report = (available: number) =>
        kubectl.ok([
          "patch",
          "deployment/web",
          "--subresource=status",
          "--type=merge",
          "-p",
          JSON.stringify({
            status: { ...counts, observedGeneration: metadata.generation, availableReplicas: available },
          }),
        ]);
      await report(1);
      expect(await kubectl.refused(["rollout", "status", "deployment/web", "--timeout=1s"])).toBe(
        "error: timed out waiting for the condition",
      );
      await using waiting = kubectl.start(["rollout", "status", "deployment/web"]);
      await waiting.until((printed) => printed.includes(`1 of ${spec.replicas} updated replicas are available`));
      await report(spec.replicas);
      await waiting.until((printed) => printed.includes('deployment "web" successfully rolled out'));
    },
    timeoutMs,
  );
});

test("expose creates a service from the workload", async () => {
  expect(await kubectl.ok(["expose", "deployment", "web", "--port=80", "--target-port=8080"])).toBe(
    "service/web exposed\n",
  );
  expect((await kubectl.get(["service", "web"])).spec).toMatchObject({
    selector: { app: "web" },
    ports: [{ port: 80, protocol: "TCP", targetPort: 8080 }],
  });
});

test("top reports that metrics are unavailable", async () => {
  expect(await kubectl.refused(["top", "pods"])).toBe("error: Metrics API not available");
  expect(await kubectl.refused(["top", "nodes"])).toBe("error: Metrics API not available");
});
