import type { Pod } from "../../../api/types/core-v1.ts";
import type { Draft } from "./messages.ts";

/** Bounds of common resolvers. The rest is left out. */
const nameserversMax = 3;
const searchesMax = 32;
const searchCharactersMax = 2_048;
const domainCharactersMax = 253;
/** A longer resolv.conf is not read to its end. */
const resolvConfCharactersMax = 10 * 1024 * 1024;

export interface DnsOptions {
  /** Addresses of the cluster's DNS servers. Without any, pods use the node's. */
  readonly servers: readonly string[];
  readonly domain: string;
}

type Resolver = Required<Draft<"DNSConfig">> & {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
};

const empty: Resolver = { servers: [], searches: [], options: [] };

/** Reads a resolv.conf. The last `search` line counts; options of all lines count, a later one of a name instead of an earlier. */
export function parseResolvConf(text: string): Resolver {
  const servers: string[] = [];
  let searches: string[] = [];
  const options = new Map<string, string>();
  for (const line of text.slice(0, resolvConfCharactersMax).split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "nameserver" && values[0] !== undefined) servers.push(values[0]);
    if (keyword === "search")
      searches = values.filter((value) => value !== ".").map((value) => value.replace(/\.$/, ""));
    if (keyword === "options") for (const value of values) options.set(optionName(value), value);
  }
  return { servers, searches, options: [...options.values()] };
}

/** Returns the resolver of a pod by its policy. `host` is the node's own. */
export function dnsConfigOf({ metadata, spec }: Pod, host: Resolver, options: DnsOptions): Draft<"DNSConfig"> {
  const { servers, domain } = options;
  const policy = spec?.dnsPolicy ?? "ClusterFirst";
  const asksCluster =
    servers.length > 0 &&
    (policy === "ClusterFirstWithHostNet" || (policy === "ClusterFirst" && spec?.hostNetwork !== true));
  let base = policy === "None" ? empty : host;
  if (asksCluster) {
    const domains = ["svc.", ""].map((prefix) => `${prefix}${domain}`);
    const searches = domain === "" ? [] : [`${metadata.namespace}.svc.${domain}`, ...domains];
    base = { servers, searches: distinct([...searches, ...host.searches]), options: ["ndots:5"] };
  }
  const { nameservers = [], searches = [], options: own = [] } = spec?.dnsConfig ?? {};
  const merged = new Map(base.options.map((option) => [optionName(option), option]));
  for (const { name = "", value } of own) merged.set(name, value === undefined ? name : `${name}:${value}`);
  return {
    servers: distinct([...base.servers, ...nameservers]).slice(0, nameserversMax),
    searches: fitting(distinct([...base.searches, ...searches])),
    options: [...merged.values()],
  };
}

function fitting(searches: readonly string[]): readonly string[] {
  const kept = searches.slice(0, searchesMax).filter(({ length }) => length <= domainCharactersMax);
  let characters = -1;
  const end = kept.findIndex(({ length }) => {
    characters += length + 1;
    return characters > searchCharactersMax;
  });
  return end < 0 ? kept : kept.slice(0, end);
}

function optionName(option: string): string {
  const colon = option.indexOf(":");
  return colon < 0 ? option : option.slice(0, colon);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)];
}
