/** `--runtime-config`: which API groups, versions and resources are on. Keys as on the command line. */
export type RuntimeConfig = ReadonlyMap<string, boolean>;

export interface ServedCandidate {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly stability: string;
  readonly defaultOn: boolean;
}

/** Each key is wider than the one after it; the narrowest that is set decides, whatever the order of the flags. */
function keysFor({ group, version, resource, stability }: ServedCandidate): string[] {
  const groupVersion = group === "" ? version : `${group}/${version}`;
  return ["api/all", `api/${stability.toLowerCase()}`, groupVersion, `${groupVersion}/${resource}`];
}

/** Whether a resource is served under the configuration; without a matching key its default decides. */
export function isServed(candidate: ServedCandidate, config: RuntimeConfig): boolean {
  let served = candidate.defaultOn;
  for (const key of keysFor(candidate)) served = config.get(key) ?? served;
  return served;
}

const stabilityKeys: ReadonlySet<string> = new Set(["api/all", "api/ga", "api/beta", "api/alpha"]);

/**
 * Groups that the configuration names and that do not exist.
 * @param known group names; the core group is named by its version alone
 */
export function unknownGroups(config: RuntimeConfig, known: ReadonlySet<string>): string[] {
  const unknown = new Set<string>();
  for (const key of config.keys()) {
    if (stabilityKeys.has(key)) continue;
    const group = groupOfKey(key);
    if (!known.has(group)) unknown.add(group);
  }
  return [...unknown];
}

function groupOfKey(key: string): string {
  const first = key.split("/")[0] as string;
  const isCoreVersion = key === "v1" || key.startsWith("v1/");
  return isCoreVersion ? "" : first;
}
