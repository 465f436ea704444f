import { cloneJson, type JsonObject, type JsonValue } from "../api/json.ts";
import type { DefaultRule } from "../api/schema/schema.ts";
import defaultsJson from "../api/scheme/generated/defaults.json";
import type { Kind } from "../registry/kind.ts";

/** Their fields are always written, so a decoded zero does not tell whether the client sent it. */
const zeroIsOpen: ReadonlySet<string> = new Set([
  "batch/v1.PodFailurePolicyOnPodConditionsPattern",
  "flowcontrol/v1.QueuingConfiguration",
]);

/** By type: plain values of the generated data, then the rule that a kind declares for the type. */
export function defaultRules(kinds: Iterable<Kind>): ReadonlyMap<string, DefaultRule> {
  const rules = new Map<string, DefaultRule>();
  for (const [type, values] of Object.entries(defaultsJson as Record<string, JsonObject>)) {
    rules.set(type, zeroIsOpen.has(type) ? openRule(values) : valueRule(values));
  }
  for (const [type, coded] of declaredRules(kinds)) {
    const values = rules.get(type);
    rules.set(type, values === undefined ? coded : both(values, coded));
  }
  return rules;
}

/** Types that several kinds use may be declared by each of them, with the same rule. */
function declaredRules(kinds: Iterable<Kind>): ReadonlyMap<string, DefaultRule> {
  const rules = new Map<string, DefaultRule>();
  for (const { defaults = {} } of kinds) {
    // The schema of a type calls its rule with objects of that type.
    for (const [type, rule] of Object.entries(defaults as Readonly<Record<string, DefaultRule>>)) {
      if ((rules.get(type) ?? rule) !== rule) throw new Error(`two kinds give ${type} different defaults`);
      rules.set(type, rule);
    }
  }
  return rules;
}

function both(first: DefaultRule, second: DefaultRule): DefaultRule {
  return (object) => {
    first(object);
    second(object);
  };
}

/** The data names only fields of the type itself, and none for which zero means something. */
function valueRule(values: JsonObject): DefaultRule {
  const entries = Object.entries(values);
  return (object) => {
    for (const [name, value] of entries) setDefault(object, name, value);
  };
}

function openRule(values: JsonObject): DefaultRule {
  const entries = Object.entries(values);
  return (object) => {
    for (const [name, value] of entries) object[name] ||= cloneJson(value);
  };
}

function setDefault(object: JsonObject, name: string, value: JsonValue): void {
  if (object[name] === undefined || object[name] === null) object[name] = cloneJson(value);
}
