/** `--runtime-config`: enables or disables API groups, versions and resources. Keys as on the command line. */
export type RuntimeConfig = ReadonlyMap<string, boolean>;

export interface ServedCandidate {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly stability: string;
  readonly defaultOn: boolean;
}

/**
 * Returns the keys that apply to a candidate, from wide to narrow. The narrowest key that is set decides, regardless of
 * the order of the flags.
 */
function keysFor({ group, version, resource, stability }: ServedCandidate): string[] {
  const groupVersion = group === "" ? version : `${group}/${version}`;
  return ["api/all", `api/${stability.toLowerCase()}`, groupVersion, `${groupVersion}/${resource}`];
}

/** Reports whether a resource is served; without a matching key its default decides. */
export function isServed(candidate: ServedCandidate, config: RuntimeConfig): boolean {
  let served = candidate.defaultOn;
  for (const key of keysFor(candidate)) served = config.get(key) ?? served;
  return served;
}

const stabilityKeys: ReadonlySet<string> = new Set(["api/all", "api/ga", "api/beta", "api/alpha"]);

/**
 * Rejects unknown keys.
 * @param known keys of all resources, `v1/pods` or `apps/v1/deployments`
 * @throws Error that names the unknown groups, then versions, then resources
 */
export function refuseUnknownKeys(config: RuntimeConfig, known: Iterable<string>): void {
  const resources = new Set(known);
  const versions = new Set([...resources].map(versionOfKey));
  const groups = new Set([...versions].map(groupOfKey));
  const keys = [...config.keys()].filter((key) => !stabilityKeys.has(key));
  refuse("unknown api groups", keys.map(groupOfKey), groups);
  refuse("unknown api versions", keys.map(versionOfKey), versions);
  refuse("unknown api resources", keys.filter(namesResource), resources);
}

function refuse(problem: string, named: readonly string[], known: ReadonlySet<string>): void {
  const unknown = new Set(named.filter((name) => !known.has(name)));
  if (unknown.size > 0) throw new Error(`${problem} ${[...unknown].join(",")}`);
}

function isCore(key: string): boolean {
  return /^v\d[a-z0-9]*(\/|$)/.test(key);
}

function groupOfKey(key: string): string {
  return isCore(key) ? "" : (key.split("/")[0] as string);
}

function versionOfKey(key: string): string {
  return key.split("/", isCore(key) ? 1 : 2).join("/");
}

function namesResource(key: string): boolean {
  return key !== versionOfKey(key);
}
