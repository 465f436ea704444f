/**
 * A node agent that only answers `/metrics/resource`, for metrics-server: `<port> <certificate> <key>`. The node uses half
 * a core and 512 MiB, the container `app` of the pod `default/web` a tenth of a core and 64 MiB.
 */
const [port = "0", certificate = "", key = ""] = Bun.argv.slice(2);
const startedMs = Date.now() - 60_000;
const mebibyte = 1024 * 1024;

Bun.serve({
  port: Number(port),
  hostname: "0.0.0.0",
  tls: { cert: Bun.file(certificate), key: Bun.file(key) },
  fetch(request) {
    if (new URL(request.url).pathname !== "/metrics/resource") return new Response("not found", { status: 404 });
    if (!request.headers.get("authorization")?.startsWith("Bearer ")) {
      return new Response("Unauthorized", { status: 401 });
    }
    return new Response(resourceMetrics(Date.now()), { headers: { "content-type": "text/plain; version=0.0.4" } });
  },
});

/** The numbers of a kubelet, in its format. */
function resourceMetrics(nowMs: number): string {
  const seconds = (nowMs - startedMs) / 1_000;
  const container = '{container="app",namespace="default",pod="web"}';
  return [
    "# TYPE node_cpu_usage_seconds_total counter",
    `node_cpu_usage_seconds_total ${seconds / 2} ${nowMs}`,
    "# TYPE node_memory_working_set_bytes gauge",
    `node_memory_working_set_bytes ${512 * mebibyte} ${nowMs}`,
    "# TYPE container_cpu_usage_seconds_total counter",
    `container_cpu_usage_seconds_total${container} ${seconds / 10} ${nowMs}`,
    "# TYPE container_memory_working_set_bytes gauge",
    `container_memory_working_set_bytes${container} ${64 * mebibyte} ${nowMs}`,
    "# TYPE container_start_time_seconds gauge",
    `container_start_time_seconds${container} ${startedMs / 1_000}`,
    "",
  ].join("\n");
}
