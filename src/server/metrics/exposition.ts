import type { Registry } from "prom-client";
import Gauge from "prom-client/lib/gauge.js";
import { nextTurn } from "../../process/turn.ts";
import { stabilityOf } from "./stability.ts";

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** All metrics of one name. */
export interface ExposedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  /** Yields the lines of one label combination after another. */
  text(): Iterable<string>;
  /** Resets the counts. Families that show current state lack it. */
  reset?(): void;
}

/** The content type, as upstream sends it: names are plain ASCII. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/** Size of the pieces in which the text is encoded. */
const pieceChars = 64 * 1024;
/** The longest time for which a scrape blocks everything else. */
const sliceMs = 5;

/**
 * Writes every family of the registry in the text format of Prometheus. Thousands of series take a while, so requests are
 * answered in between. All lines of one label combination are of the same moment.
 */
export async function exposeMetrics(registry: Registry): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let text = "";
  let sliceEndMs = performance.now() + sliceMs;
  const encoder = new TextEncoder();
  for (const metric of registry.getMetricsAsArray() as unknown as (ExposedFamily | PromClientMetric)[]) {
    if (!("text" in metric)) {
      text += withStability(`${await registry.getSingleMetricAsString(metric.name)}\n`, metric.name);
      continue;
    }
    text += `# HELP ${metric.name} ${helpText(metric)}\n# TYPE ${metric.name} ${metric.type}\n`;
    for (const lines of metric.text()) {
      text += lines;
      if (text.length < pieceChars) continue;
      pieces.push(encoder.encode(text));
      text = "";
      if (performance.now() < sliceEndMs) continue;
      await nextTurn();
      sliceEndMs = performance.now() + sliceMs;
    }
  }
  pieces.push(encoder.encode(text));
  return pieces;
}

/** Resets every family that counts. Families that show current state continue. */
export function resetMetrics(registry: Registry): void {
  for (const metric of registry.getMetricsAsArray() as unknown as (ExposedFamily | PromClientMetric)[]) {
    if ("text" in metric || !(metric instanceof Gauge)) metric.reset?.();
  }
}

/** A metric that prom-client itself writes. */
interface PromClientMetric {
  readonly name: string;
  reset(): void;
}

function withStability(text: string, name: string): string {
  const stability = stabilityOf(name);
  const start = `# HELP ${name} `;
  return stability === undefined || text.startsWith(`${start}[`)
    ? text
    : `${start}[${stability}] ${text.slice(start.length)}`;
}

function helpText({ name, help }: ExposedFamily): string {
  const stability = stabilityOf(name);
  const escaped = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return stability === undefined ? escaped : `[${stability}] ${escaped}`;
}

export function sampleLine(name: string, labels: string, value: number): string {
  return labels === "" ? `${name} ${valueText(value)}\n` : `${name}{${labels}} ${valueText(value)}\n`;
}

/** Returns the labels in the form between braces; "" for none. */
export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeValue(value)}"`)
    .join(",");
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

export function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** Formats the bound of a bucket as upstream does, because queries compare these texts: `1e+06`, `0.005`, `1e-05`. */
export function numberText(value: number): string {
  const [digits = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
