import packageJson from "../../package.json" with { type: "json" };
import { toBytes } from "../api/codec/byte-text.ts";
import { stringifyJson } from "../api/codec/json.ts";
import { apiPatchRelease } from "../api/release.ts";
import { status } from "../api/status.ts";
import { header } from "../request/exchange.ts";
import type { Route } from "./discovery/discovery-route.ts";
import { reply, requireGet } from "./document-reply.ts";
import { producedTypes, refuseUnproduced } from "./produced-types.ts";

/** The Kubernetes version whose API is served. Clients parse it as a semantic version. */
export const gitVersion = `v${apiPatchRelease}+quorate.${packageJson.version}`;

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** version.Info as `/version` returns it. */
export function versionInfo() {
  return {
    major: "1",
    minor: "36",
    emulationMajor: "1",
    emulationMinor: "36",
    minCompatibilityMajor: "1",
    minCompatibilityMinor: "35",
    gitVersion,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: `bun${Bun.version}`,
    compiler: "bun",
    platform: `${process.platform}/${architectures[process.arch] ?? process.arch}`,
  };
}

/** Serves `/version`, which needs no permission. */
export function versionRoute(): Route {
  const bytes = toBytes(stringifyJson(versionInfo(), 2));
  return {
    paths: ["/version"],
    handle: async (exchange) => {
      const { path } = exchange.info;
      if (path !== "/version" && path !== "/version/") throw status.resourceNotServed();
      requireGet(exchange);
      refuseUnproduced(header(exchange.request, "accept"), producedTypes.json);
      return reply(bytes, [["content-type", "application/json"]]);
    },
  };
}
