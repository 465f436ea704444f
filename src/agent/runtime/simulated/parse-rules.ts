import { FileCheck } from "../../../api/codec/configuration-file.ts";
import { parseYaml } from "../../../api/codec/yaml.ts";
import { fieldError, fieldErrorText } from "../../../api/field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { parseLabelSelector } from "../../../api/label-selector.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { completes, type Delay, type RiskyStep, runsOn, type Steps } from "./behaviour.ts";
import type { Choice, ContainerRule, ImageRule, Match, SimulationRules } from "./rules.ts";

const rulesMax = 1_000;
const choicesMax = 100;
const logLinesMax = 1_000;
const valuesMax = 100_000;
const stepNames = ["start", "startup", "ready", "unhealthy", "exit", "stop", "logs"] as const;
const delayNames = ["after", "jitter"];

/**
 * Parses a file of rules, in YAML or JSON.
 * @throws Error with one message that lists every problem
 */
export function parseRules(bytes: Uint8Array): SimulationRules {
  return parse(bytes, "the file", (value, reader) => {
    reader.check.fields(value, "", ["images", "rules"]);
    return {
      images: reader.objects(value, "", "images").map((rule, at) => reader.imageRule(rule, `images[${at}]`)),
      containers: reader.objects(value, "", "rules").map((rule, at) => reader.containerRule(rule, `rules[${at}]`)),
    };
  });
}

/**
 * Parses the steps in an annotation of a pod.
 * @throws Error with one message that lists every problem
 */
export function parseSteps(text: string): Steps {
  return parse(new TextEncoder().encode(text), "the value", (value, reader) => {
    reader.check.fields(value, "", stepNames);
    return reader.steps(value, "");
  });
}

function parse<T>(bytes: Uint8Array, what: string, read: (value: JsonObject, reader: RuleReader) => T): T {
  const { value, duplicates } = parseYaml(bytes, { strict: true, valuesMax });
  if (!isJsonObject(value)) throw new Error(`${what} does not contain an object`);
  if (duplicates.length > 0) throw new Error(`the field ${JSON.stringify(duplicates[0])} occurs twice`);
  const reader = new RuleReader();
  const result = read(value, reader);
  const { errors } = reader.check;
  if (errors.length > 0) throw new Error(errors.map(fieldErrorText).join("; "));
  return result;
}

/** Reads the parts of rules. Problems are collected in `check`. */
class RuleReader {
  readonly check = new FileCheck();

  imageRule(rule: JsonObject, path: string): ImageRule {
    this.check.fields(rule, path, ["names", ...delayNames, "failureRate", "message"]);
    const names = this.#texts(rule, path, "names");
    if (names.length === 0) this.check.errors.push(fieldError.required(`${path}.names`));
    return { names, ...this.#risky(rule, path) };
  }

  containerRule(rule: JsonObject, path: string): ContainerRule {
    this.check.fields(rule, path, ["name", "match", "choices", ...stepNames]);
    this.check.text(rule, path, "name");
    const match = this.#match(this.check.object(rule, path, "match") ?? {}, `${path}.match`);
    const choices = this.objects(rule, path, "choices", choicesMax);
    if (choices.length === 0) return { match, choices: [{ weight: 1, steps: this.steps(rule, path) }] };
    for (const name of stepNames.filter((step) => rule[step] !== undefined)) {
      this.check.errors.push(fieldError.forbidden(`${path}.${name}`, "may not be set together with `choices`"));
    }
    return { match, choices: choices.map((choice, at) => this.#choice(choice, `${path}.choices[${at}]`)) };
  }

  steps(value: JsonObject, path: string): Steps {
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    const start = this.check.object(value, path, "start");
    const exit = value["exit"] === "never" ? undefined : this.check.object(value, path, "exit");
    const stop = this.check.object(value, path, "stop");
    if (start !== undefined) this.check.fields(start, at("start"), [...delayNames, "failureRate", "message"]);
    const startup = this.#delayOrNever(value, path, "startup");
    const ready = this.#delayOrNever(value, path, "ready");
    const unhealthy = this.#delayOrNever(value, path, "unhealthy");
    return {
      ...(start === undefined ? {} : { start: this.#risky(start, at("start")) }),
      ...(startup === undefined ? {} : { startup }),
      ...(ready === undefined ? {} : { ready }),
      ...(unhealthy === undefined ? {} : { unhealthy }),
      ...(value["exit"] === "never" ? { exit: "never" } : {}),
      ...(exit === undefined ? {} : { exit: this.#exit(exit, at("exit")) }),
      ...(stop === undefined ? {} : { stop: this.#stop(stop, at("stop")) }),
      ...(value["logs"] === undefined ? {} : { logs: this.#texts(value, path, "logs", logLinesMax) }),
    };
  }

  objects(value: JsonObject, path: string, name: string, max = rulesMax): JsonObject[] {
    const list = this.#list(value, path, name, max);
    const field = path === "" ? name : `${path}.${name}`;
    for (const [at, one] of list.entries()) {
      if (!isJsonObject(one)) {
        this.check.errors.push(fieldError.typeInvalid(`${field}[${at}]`, one, "must be an object"));
      }
    }
    return list.filter(isJsonObject);
  }

  #choice(choice: JsonObject, path: string): Choice {
    this.check.fields(choice, path, ["weight", ...stepNames]);
    const weight = this.#number(choice, path, "weight", { from: 0, to: 1_000_000, byDefault: 1 });
    if (weight === 0) this.check.errors.push(fieldError.invalid(`${path}.weight`, 0, "must be greater than 0"));
    return { weight, steps: this.steps(choice, path) };
  }

  #match(match: JsonObject, path: string): Match {
    this.check.fields(match, path, ["namespaces", "labels", "annotations", "owners", "containers", "images"]);
    const texts = (name: string) => (match[name] === undefined ? undefined : this.#texts(match, path, name));
    const annotations = Object.entries(this.check.object(match, path, "annotations") ?? {});
    for (const [name, value] of annotations) {
      if (typeof value === "string") continue;
      const field = `${path}.annotations[${name}]`;
      this.check.errors.push(fieldError.typeInvalid(field, value, "must be a string"));
    }
    return {
      namespaces: texts("namespaces"),
      labels: this.#labels(match, path),
      annotations: annotations.map(([name, value]) => [name, String(value)] as const),
      owners: texts("owners"),
      containers: texts("containers"),
      images: texts("images"),
    };
  }

  #labels(match: JsonObject, path: string): Match["labels"] {
    const text = this.check.text(match, path, "labels");
    if (text === "") return undefined;
    try {
      return parseLabelSelector(text);
    } catch (error) {
      this.check.errors.push(fieldError.invalid(`${path}.labels`, text, thrownText(error)));
      return undefined;
    }
  }

  #exit(exit: JsonObject, path: string): Exclude<Steps["exit"], "never" | undefined> {
    this.check.fields(exit, path, [...delayNames, "code", "failureRate", "failureCode", "reason", "message"]);
    return {
      ...this.#delay(exit, path),
      code: this.#code(exit, path, "code", completes.code),
      failureRate: this.#rate(exit, path),
      failureCode: this.#code(exit, path, "failureCode", completes.failureCode),
      reason: this.check.text(exit, path, "reason") || undefined,
      message: this.check.text(exit, path, "message"),
    };
  }

  #stop(stop: JsonObject, path: string): NonNullable<Steps["stop"]> {
    this.check.fields(stop, path, [...delayNames, "code"]);
    return { ...this.#delay(stop, path), code: this.#code(stop, path, "code", runsOn.stop.code) };
  }

  #risky(step: JsonObject, path: string): RiskyStep {
    const failureRate = this.#rate(step, path);
    const message = this.check.text(step, path, "message") || "the simulation made it fail";
    return { ...this.#delay(step, path), failureRate, message };
  }

  #delayOrNever(value: JsonObject, path: string, name: string): Delay | "never" | undefined {
    if (value[name] === "never") return "never";
    const delay = this.check.object(value, path, name);
    if (delay === undefined) return undefined;
    const field = path === "" ? name : `${path}.${name}`;
    this.check.fields(delay, field, delayNames);
    return this.#delay(delay, field);
  }

  #delay(value: JsonObject, path: string): Delay {
    const ms = (name: string) => this.check.durationMs(value, path, name, { allowsZero: true }) ?? 0;
    return { afterMs: ms("after"), jitterMs: ms("jitter") };
  }

  #rate(value: JsonObject, path: string): number {
    return this.#number(value, path, "failureRate", { from: 0, to: 1, byDefault: 0 });
  }

  #code(value: JsonObject, path: string, name: string, byDefault: number): number {
    const code = this.#number(value, path, name, { from: 0, to: 255, byDefault });
    if (Number.isInteger(code)) return code;
    this.check.errors.push(fieldError.invalid(`${path}.${name}`, code, "must be an integer"));
    return byDefault;
  }

  #number(
    value: JsonObject,
    path: string,
    name: string,
    { from, to, byDefault }: { readonly from: number; readonly to: number; readonly byDefault: number },
  ): number {
    const given = value[name];
    if (given === undefined || given === null) return byDefault;
    const number = typeof given === "number" || typeof given === "bigint" ? Number(given) : Number.NaN;
    if (number >= from && number <= to) return number;
    const text = `must be a number from ${from} to ${to}`;
    this.check.errors.push(fieldError.invalid(`${path}.${name}`, given, text));
    return byDefault;
  }

  #texts(value: JsonObject, path: string, name: string, max = rulesMax): string[] {
    const list = this.#list(value, path, name, max);
    const field = path === "" ? name : `${path}.${name}`;
    for (const [at, one] of list.entries()) {
      if (typeof one !== "string") {
        this.check.errors.push(fieldError.typeInvalid(`${field}[${at}]`, one, "must be a string"));
      }
    }
    return list.filter((one) => typeof one === "string");
  }

  #list(value: JsonObject, path: string, name: string, max: number): readonly JsonValue[] {
    const given = value[name];
    if (given === undefined || given === null) return [];
    const field = path === "" ? name : `${path}.${name}`;
    if (!Array.isArray(given)) {
      this.check.errors.push(fieldError.typeInvalid(field, given, "must be a list"));
      return [];
    }
    if (given.length > max) this.check.errors.push(fieldError.tooMany(field, given.length, max));
    return given.slice(0, max);
  }
}
