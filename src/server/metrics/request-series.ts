import { type Exchange, header } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";

/** The limit on combinations of request labels. Further combinations count as the resource `other`. */
export const requestSeriesMax = 4096;

/** The labels that identify the series of a request. */
export interface RequestLabels {
  readonly verb: string;
  readonly dry_run: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: string;
}

interface Labelled {
  readonly labels: RequestLabels;
}

/**
 * Finds the series of a request. Compares the request with the known combinations of its resource, which allocates
 * nothing. Names that are not served are never kept.
 */
export class RequestSeries<Series extends Labelled> {
  readonly #create: (labels: RequestLabels) => Series;
  readonly #isServed: (info: ResourceRequest) => boolean;
  readonly #byResource = new Map<string, Series[]>();
  #count = 0;

  constructor(create: (labels: RequestLabels) => Series, isServed: (info: ResourceRequest) => boolean) {
    this.#create = create;
    this.#isServed = isServed;
  }

  /** Returns the series of a request. `scopeOf` differs for long-running requests, as upstream's does. */
  of(exchange: Exchange, scopeOf: (info: ResourceRequest) => string = requestScope): Series {
    const { info } = exchange;
    if (info.kind === "nonResource") {
      return this.#find(methodVerbs.get(info.verb) ?? otherVerb, "", noResource, pathLabels.get(info.path) ?? "", "");
    }
    const verb = verbLabel(exchange, info);
    const dryRun = dryRunLabel(info);
    const { subresource } = info;
    const scope = scopeOf(info);
    const known = this.#known(verb, dryRun, info, subresource, scope);
    if (known !== undefined) return known;
    return this.#isServed(info)
      ? this.#find(verb, dryRun, info, subresource, scope)
      : this.#find(verb, "", noResource, "", "");
  }

  #known(verb: string, dryRun: string, of: GroupVersionResource, subresource: string, scope: string) {
    const candidates = this.#byResource.get(of.resource);
    if (candidates === undefined) return undefined;
    for (let at = 0; at < candidates.length; at++) {
      const series = candidates[at] as Series;
      const { labels } = series;
      if (
        labels.verb === verb &&
        labels.scope === scope &&
        labels.dry_run === dryRun &&
        labels.subresource === subresource &&
        labels.version === of.version &&
        labels.group === of.group
      ) {
        return series;
      }
    }
    return undefined;
  }

  #find(verb: string, dryRun: string, of: GroupVersionResource, subresource: string, scope: string): Series {
    const known = this.#known(verb, dryRun, of, subresource, scope);
    if (known !== undefined) return known;
    if (this.#count >= requestSeriesMax && of !== overflow) return this.#find(otherVerb, "", overflow, "", "");
    const { group, version, resource } = of;
    const component = resource === "" ? "" : "apiserver";
    const labels = { verb, dry_run: dryRun, group, version, resource, subresource, scope, component };
    const series = this.#create(labels);
    this.#count++;
    const others = this.#byResource.get(resource);
    if (others === undefined) this.#byResource.set(resource, [series]);
    else others.push(series);
    return series;
  }
}

interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const noResource: GroupVersionResource = { group: "", version: "", resource: "" };
const overflow: GroupVersionResource = { group: "", version: "", resource: "other" };

const otherVerb = "other";
const methodVerbs = new Map([
  ["get", "GET"],
  ["head", "GET"],
  ["post", "POST"],
  ["put", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
  ["options", "OPTIONS"],
]);
/** Upstream reports some paths as the subresource. Other paths share one series. */
const pathLabels = new Map(
  ["/healthz", "/livez", "/readyz", "/metrics", "/metrics/slis", "/version", "/api", "/apis"]
    .map((path): [string, string] => [path, path])
    .concat([
      ["/openapi/v2", "openapi/v2"],
      ["/openapi/v3", "openapi/v3"],
    ]),
);

const resourceVerbs = new Map([
  ["get", "GET"],
  ["list", "LIST"],
  ["watch", "WATCH"],
  ["create", "POST"],
  ["update", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
  ["deletecollection", "DELETE"],
  ["proxy", "CONNECT"],
]);
const connectSubresources = new Set(["attach", "exec", "portforward", "proxy"]);
const applyMediaTypes = ["application/apply-patch+yaml", "application/apply-patch+cbor"];

function verbLabel({ request }: Exchange, { verb, subresource }: ResourceRequest): string {
  if (subresource !== "" && connectSubresources.has(subresource)) return "CONNECT";
  if (verb === "patch") {
    const type = header(request, "content-type") ?? "";
    return applyMediaTypes.some((apply) => type.startsWith(apply)) ? "APPLY" : "PATCH";
  }
  return resourceVerbs.get(verb) ?? otherVerb;
}

function dryRunLabel({ query }: ResourceRequest): string {
  const values = query.get("dryRun");
  if (values === undefined) return "";
  return values.every((value) => value === "All") ? "All" : "invalid";
}

/** A create request counts as a request for one object. A selected name does not, but does for a long-running request. */
function requestScope({ verb, name, nameInPath, namespace }: ResourceRequest): string {
  if (verb === "create" || (name !== "" && nameInPath)) return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

export function longRunningScope(info: ResourceRequest): string {
  return info.name === "" ? requestScope(info) : "resource";
}
