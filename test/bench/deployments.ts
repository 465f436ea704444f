/** Returns a realistic Deployment of about 2 KiB. */
export function deploymentDocument(number: number, image = "1.0"): object {
  const name = deploymentName(number);
  const labels = { app: name, tier: "web", release: `r${number % 7}` };
  const container = (containerName: string, port: number) => ({
    name: containerName,
    image: `registry.example/team/${containerName}:${image}`,
    args: ["--listen=:8080", `--shard=${number}`],
    env: Array.from({ length: 6 }, (_, at) => ({ name: `SETTING_${at}`, value: `value-${number}-${at}` })),
    ports: [{ name: `port-${port}`, containerPort: port, protocol: "TCP" }],
    resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
    readinessProbe: { httpGet: { path: "/ready", port }, periodSeconds: 10 },
    volumeMounts: [{ name: "settings", mountPath: "/etc/settings" }],
  });
  const template = {
    metadata: { labels, annotations: { "example.com/checksum": `sum-${number}` } },
    spec: {
      containers: [container("main", 8080), container("sidecar", 9090)],
      volumes: [{ name: "settings", configMap: { name: "settings" } }],
      terminationGracePeriodSeconds: 30,
    },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default", labels, annotations: { "example.com/owner": "team" } },
    spec: { replicas: 3, revisionHistoryLimit: 5, selector: { matchLabels: { app: name } }, template },
  };
}

export function deploymentName(number: number): string {
  return `web-${String(number).padStart(5, "0")}`;
}
