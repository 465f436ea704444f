import { toBytes } from "../api/codec/byte-text.ts";
import { encodeDocument } from "../api/codec/encode-document.ts";
import { type MediaType, plainJson } from "../api/codec/representation.ts";
import type { JsonObject } from "../api/json.ts";
import { status } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import { type Exchange, header, type Reply } from "../request/exchange.ts";
import type { AppPlugin } from "./app.ts";
import { reply } from "./document-reply.ts";
import { parseAccept } from "./negotiate.ts";
import { gitVersion } from "./version.ts";

export interface ComponentPagesOptions {
  /** Such as `apiserver`. */
  readonly component: string;
  /** The paths that `/statusz` lists. */
  readonly paths: readonly string[];
  readonly clock: Clock;
  /** Returns the value of every flag by name. */
  readonly flags: () => ReadonlyMap<string, string>;
}

const group = "config.k8s.io";
const currentVersion = "v1beta1";
const versions = ["v1alpha1", currentVersion];
const structured: readonly MediaType[] = ["application/json", "application/yaml"];
const textType = "text/plain";
const servedPaths = ["/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"];
const warning =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";

/** A page as one client gets it, and the warnings that go with it. */
export interface PageAnswer {
  readonly page: Reply;
  readonly warnings: readonly string[];
}

/** The pages `/statusz` and `/flagz`, which show how a program was started. */
export class ComponentPages {
  readonly #options: ComponentPagesOptions;
  readonly #startedMs: number;
  readonly #steadyStartMs: number;

  constructor(options: ComponentPagesOptions) {
    this.#options = options;
    this.#startedMs = options.clock.nowMs();
    this.#steadyStartMs = options.clock.steadyMs();
  }

  /** @throws StatusError 406 */
  statusz(accept: string | undefined): PageAnswer {
    const { clock, paths } = this.#options;
    const startedMs = this.#startedMs;
    const uptimeSeconds = Math.floor((clock.steadyMs() - this.#steadyStartMs) / 1_000);
    const facts = { startedMs, uptimeSeconds, ...binary(), paths };
    return this.#answer("Statusz", accept, { text: () => statusText(facts), fields: () => statusFields(facts) });
  }

  /** @throws StatusError 406 */
  flagz(accept: string | undefined): PageAnswer {
    const sorted = [...this.#options.flags()].sort(([a], [b]) => (a < b ? -1 : 1));
    return this.#answer("Flagz", accept, {
      text: () => sorted.map(([name, value]) => `${name} ${value}\n`).join(""),
      fields: () => ({ flags: Object.fromEntries(sorted) }),
    });
  }

  #answer(kind: "Statusz" | "Flagz", accept: string | undefined, { text, fields }: Page): PageAnswer {
    const { component } = this.#options;
    const form = formOf(accept, kind);
    if (form === "text") {
      const body = `\n${component} ${kind.toLowerCase()}\n${warning}\n${text()}`;
      return { page: reply(toBytes(body), [["content-type", `${textType}; charset=utf-8`]]), warnings: [] };
    }
    const { mediaType, version } = form;
    const document = { kind, apiVersion: `${group}/${version}`, metadata: { name: component }, ...fields() };
    const bytes = encodeDocument({ document, schema: undefined }, { ...plainJson, mediaType, pretty: true });
    const page = reply(bytes, [["content-type", `${mediaType};g=${group};v=${version};as=${kind}`]]);
    if (version === currentVersion) return { page, warnings: [] };
    const deprecated = `This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`;
    return { page, warnings: [deprecated] };
  }
}

/** Returns the routes of the API server's pages. */
export function componentPages(options: Pick<ComponentPagesOptions, "clock" | "flags">): AppPlugin[] {
  const pages = new ComponentPages({ ...options, component: "apiserver", paths: servedPaths });
  const route = (name: "statusz" | "flagz"): AppPlugin => ({
    name,
    paths: [`/${name}`],
    async handle(exchange: Exchange) {
      const { page, warnings } = pages[name](header(exchange.request, "accept"));
      exchange.warnings.push(...warnings);
      return page;
    },
  });
  return [route("statusz"), route("flagz")];
}

interface Page {
  readonly text: () => string;
  readonly fields: () => JsonObject;
}

/** Chooses the form. Sends a document only to clients that name its group, version and kind. */
function formOf(
  accept: string | undefined,
  kind: string,
): "text" | { readonly mediaType: MediaType; readonly version: string } {
  if (accept === undefined || accept.trim() === "") return "text";
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const [wantedKind, wantedGroup] = [parameters.get("as"), parameters.get("g")];
    const isPlain = wantedKind === undefined && wantedGroup === undefined && !parameters.has("v");
    if (isPlain && (type === "*" || type === "text") && (subtype === "*" || subtype === "plain")) return "text";
    const mediaType = structured.find((served) => served === `${type}/${subtype}`);
    const version = versions.find((served) => served === parameters.get("v"));
    if (mediaType !== undefined && version !== undefined && wantedKind === kind && wantedGroup === group) {
      return { mediaType, version };
    }
  }
  throw status.notAcceptable(`only the following media types are accepted: ${[...structured, textType].join(", ")}`);
}

interface StatusFacts {
  readonly startedMs: number;
  readonly uptimeSeconds: number;
  readonly goVersion: string;
  readonly binaryVersion: string;
  readonly emulationVersion: string;
  readonly paths: readonly string[];
}

function binary(): Pick<StatusFacts, "goVersion" | "binaryVersion" | "emulationVersion"> {
  const [binaryVersion = ""] = gitVersion.slice(1).split("+");
  const emulationVersion = binaryVersion.split(".").slice(0, 2).join(".");
  return { goVersion: `bun${Bun.version}`, binaryVersion, emulationVersion };
}

function statusText({
  startedMs,
  uptimeSeconds,
  goVersion,
  binaryVersion,
  emulationVersion,
  paths,
}: StatusFacts): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(uptimeSeconds / 3_600), Math.floor(uptimeSeconds / 60) % 60];
  const lines = [
    `Started: ${unixDate(new Date(startedMs))}`,
    `Up: ${hours} hr ${two(minutes)} min ${two(uptimeSeconds % 60)} sec`,
    `Go version: ${goVersion}`,
    `Binary version: ${binaryVersion}`,
    `Emulation version: ${emulationVersion}`,
    `Paths: ${paths.join(" ")}`,
  ];
  return `\n${lines.join("\n")}\n`;
}

function statusFields({ startedMs, paths, ...facts }: StatusFacts): JsonObject {
  return { startTime: new Date(startedMs).toISOString().replace(/\.\d+Z$/, "Z"), ...facts, paths: [...paths] };
}

/** Formats a time as `date` prints it: `Sun Nov 22 20:49:31 UTC 2026`. */
function unixDate(time: Date): string {
  const [weekday = "", day = "", month, year, clock] = time.toUTCString().replace(",", "").split(" ");
  return `${weekday} ${month} ${day.replace(/^0/, " ")} ${clock} UTC ${year}`;
}
