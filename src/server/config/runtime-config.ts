import { StartupError } from "../../process/startup-error.ts";

const levelKeys: ReadonlySet<string> = new Set(["api/all", "api/ga", "api/beta", "api/alpha"]);

/**
 * Checks the form of the keys of `--runtime-config` and brings them to one spelling: `api/all`, `api/ga`, `api/beta`,
 * `api/alpha`, `<group>/<version>`, `<group>/<version>/<resource>`. The core group is its version alone, `v1` or
 * `v1/<resource>`, and is also accepted as `api/v1`. The scheme checks whether a group exists.
 * @throws StartupError for a key of another form, and for `api/all=false` alone
 */
export function parseRuntimeConfig(asked: ReadonlyMap<string, boolean>): ReadonlyMap<string, boolean> {
  const entries = new Map([...asked].map(([key, value]) => [canonicalKey(key), value]));
  if (entries.size === 1 && entries.get("api/all") === false) {
    throw new StartupError(
      "--runtime-config: api/all=false alone serves nothing: enable something too, such as api/ga=true",
    );
  }
  return entries;
}

function canonicalKey(key: string): string {
  if (levelKeys.has(key)) return key;
  const parts = key.split("/");
  const named = parts[0] === "api" ? parts.slice(1) : parts;
  if (named.length === 0 || named.includes("")) throw malformed(key);
  const isCore = isVersion(named[0] ?? "");
  const versionAt = isCore ? 0 : 1;
  const fromApiPath = named !== parts;
  const tooLong = named.length > versionAt + 2;
  if (tooLong || !isVersion(named[versionAt] ?? "") || (fromApiPath && !isCore)) throw malformed(key);
  return named.join("/");
}

function malformed(key: string): StartupError {
  return new StartupError(
    `--runtime-config: cannot read the key ${JSON.stringify(key)}: use <group>/<version>, <group>/<version>/<resource>, api/all, api/ga, api/beta or api/alpha`,
  );
}

function isVersion(text: string): boolean {
  return /^v\d+((alpha|beta)\d+)?$/.test(text);
}
