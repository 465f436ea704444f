export const podCollection = "/api/v1/namespaces/default/pods";
export const strategicPatch = { "content-type": "application/strategic-merge-patch+json" };

const containers = (number: number) =>
  ["main", "sidecar"].map((name) => ({
    name,
    image: `registry.example/team/${name}:1.${number}`,
    args: ["--listen=:8080", `--shard=${number}`],
    env: Array.from({ length: 6 }, (_, at) => ({ name: `SETTING_${at}`, value: `value-${number}-${at}` })),
    ports: [{ containerPort: 8080 + name.length }],
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
  }));

export function podName(number: number): string {
  return `pod-${String(number).padStart(5, "0")}`;
}

/** Returns a pod of two containers without a node. Controllers would remove the pods of absent nodes. */
export function podBody(number: number): string {
  const labels = { app: `app-${number % 50}`, tier: "web", release: `r${number % 7}` };
  return JSON.stringify({
    metadata: { name: podName(number), labels },
    spec: { containers: containers(number) },
  });
}

/** Returns the patch with which a kubelet reports a status. Consecutive ones differ. */
export function podStatusPatch(at: number): string {
  const time = new Date(Date.UTC(2026, 0, 1) + at * 1_000).toISOString().slice(0, 19);
  const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: at % 2 === 0 ? "True" : "False",
    lastProbeTime: null,
    lastTransitionTime: `${time}Z`,
  }));
  return JSON.stringify({ status: { phase: "Running", podIP: `10.0.${at % 200}.${(at >> 8) % 200}`, conditions } });
}
