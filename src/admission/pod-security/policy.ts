import { type FieldError, fieldError } from "../../api/field-error.ts";

/** Levels from the most permissive to the strictest. */
export const levels = ["privileged", "baseline", "restricted"] as const;
export type Level = (typeof levels)[number];

/** A level as of a minor version of the API. */
export interface LevelVersion {
  readonly level: Level;
  /** Minor version; `latest` is above all. */
  readonly minor: number;
}

/** The levels of a namespace: to reject pods, to annotate the audit log, and to warn the creator. */
export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export const labelPrefix = "pod-security.kubernetes.io/";
const latest = Number.POSITIVE_INFINITY;
const privileged: LevelVersion = { level: "privileged", minor: latest };

export function levelVersionText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === latest ? "latest" : `v1.${minor}`}`;
}

export function isStricter(level: Level, than: Level): boolean {
  return levels.indexOf(level) > levels.indexOf(than);
}

/**
 * Returns the policy of a namespace with these labels. An invalid label fails closed for `enforce`, and open for the
 * other two. The warn level defaults to `enforce`.
 */
export function policyOf(labels: Readonly<Record<string, string>>): { policy: Policy; errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const read = (mode: string, onError: Level): LevelVersion => {
    const level = parse(labels, mode, parseLevel, errors);
    const minor = parse(labels, `${mode}-version`, parseMinor, errors);
    return {
      level: level.ok ? level.value : level.given ? onError : "privileged",
      minor: minor.ok ? minor.value : latest,
    };
  };
  const enforce = read("enforce", "restricted");
  const audit = read("audit", "privileged");
  const asked = read("warn", "privileged");
  const isEnforceValid = parseLevel(labels[`${labelPrefix}enforce`] ?? "") !== undefined;
  const follows =
    labels[`${labelPrefix}warn`] === undefined && isEnforceValid && isStricter(enforce.level, asked.level);
  const hasVersion = labels[`${labelPrefix}warn-version`] !== undefined;
  const warn = follows ? { level: enforce.level, minor: hasVersion ? asked.minor : enforce.minor } : asked;
  return { policy: { enforce, audit, warn }, errors };
}

export function isPrivileged({ level }: LevelVersion): boolean {
  return level === privileged.level;
}

type Parsed<Value> = { ok: true; value: Value } | { ok: false; given: boolean };

function parse<Value>(
  labels: Readonly<Record<string, string>>,
  mode: string,
  read: (text: string) => Value | undefined,
  errors: FieldError[],
): Parsed<Value> {
  const label = labelPrefix + mode;
  const text = labels[label];
  if (text === undefined) return { ok: false, given: false };
  const value = read(text);
  if (value !== undefined) return { ok: true, value };
  const detail = mode.endsWith("-version") ? 'must be "latest" or "v1.x"' : `must be one of ${levels.join(", ")}`;
  errors.push(fieldError.invalid(`metadata.labels[${label}]`, text, detail));
  return { ok: false, given: true };
}

function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text);
}

function parseMinor(text: string): number | undefined {
  if (text === "latest") return latest;
  const match = /^v1\.(0|[1-9][0-9]{0,4})$/.exec(text);
  return match === null ? undefined : Number(match[1]);
}
