import type { Registry } from "prom-client";
import { systemUser } from "../../access/authentication/system-user.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import { BoundCounter, type CounterChild, childrenBy } from "./bound-metric.ts";
import { type RequestLabels, RequestSeries } from "./request-series.ts";

/** Registers the metrics of requests that the server makes to itself; returns a function that counts one. */
export function selfRequestMetrics(
  registry: Registry,
  isServed: (info: ResourceRequest) => boolean,
): (exchange: Exchange) => void {
  const requests = new BoundCounter("apiserver_selfrequest_total", "Requests that the server made to itself.");
  requests.register(registry);
  /** Series that differ in other labels share a child. */
  const childOf = childrenBy((key: string) => {
    const [verb = "", group = "", resource = "", subresource = ""] = key.split(" ");
    return requests.labels({ verb, group, resource, subresource });
  });
  const create = (labels: RequestLabels): { labels: RequestLabels; child: CounterChild } => {
    const { verb, group, resource, subresource } = labels;
    return { labels, child: childOf(`${verb} ${group} ${resource} ${subresource}`) };
  };
  const series = new RequestSeries(create, isServed);
  return (exchange) => {
    if (exchange.user === systemUser) series.of(exchange).child.value++;
  };
}
