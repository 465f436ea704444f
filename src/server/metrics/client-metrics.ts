import type { Registry } from "prom-client";
import type { SentRequest } from "../../client/webhook/webhook-client.ts";
import { BoundCounter, BoundHistogram, childrenBy } from "./bound-metric.ts";

const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBuckets = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
/** The limit on hosts with their own series. Users choose the hosts of webhooks, so others count as `other`. */
const hostsMax = 256;
/** Webhooks choose the codes; codes beyond HTTP count as 600. */
const codeMax = 600;

/** Registers the metrics of requests to other servers; returns a function that records one. */
export function clientMetrics(registry: Registry): (request: SentRequest) => void {
  const requests = new BoundCounter(
    "rest_client_requests_total",
    "Requests of this process to API servers and webhooks, by code and host.",
  );
  const durations = histogram("request_duration_seconds", "Duration of requests to other servers.", durationBuckets);
  const sent = histogram("request_size_bytes", "Size of requests to other servers.", sizeBuckets);
  const received = histogram("response_size_bytes", "Size of responses from other servers.", sizeBuckets);
  for (const family of [requests, durations, sent, received]) family.register(registry);
  const known = new Set<string>();
  const hosts = childrenBy((host: string) =>
    childrenBy((method: string) => ({
      duration: durations.labels({ verb: method, host }),
      sent: sent.labels({ verb: method, host }),
      received: received.labels({ verb: method, host }),
      codes: childrenBy((code: string) => requests.labels({ code, method, host })),
    })),
  );
  return ({ host, method, code, seconds, requestBytes, responseBytes }) => {
    if (!known.has(host) && known.size < hostsMax) known.add(host);
    const series = hosts(known.has(host) ? host : "other")(method);
    series.codes(code === undefined ? "<error>" : String(Math.min(code, codeMax))).value++;
    series.duration.observe(seconds);
    if (requestBytes !== undefined) series.sent.observe(requestBytes);
    if (responseBytes !== undefined) series.received.observe(responseBytes);
  };
}

function histogram(name: string, help: string, bounds: readonly number[]): BoundHistogram {
  return new BoundHistogram(`rest_client_${name}`, help, bounds);
}
