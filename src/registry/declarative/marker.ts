/** A rule about a value, as the type declares it. */
export type Marker =
  | { readonly kind: "required" | "forbidden" | "immutable" | "noSet" | "noUnset" | "noModify" | "unionMember" }
  | { readonly kind: "maxItems" | "maxLength" | "maxBytes" | "minimum" | "maximum"; readonly limit: number }
  | { readonly kind: "format"; readonly format: string }
  | { readonly kind: "unique"; readonly by: "value" | "keys" }
  | { readonly kind: "mapKey"; readonly name: string }
  | { readonly kind: "dependentRequired" | "dependentForbidden"; readonly other: string }
  | { readonly kind: "eachValue" | "eachKey"; readonly rule: Marker }
  | { readonly kind: "subfield"; readonly name: string; readonly rule: Marker }
  | { readonly kind: "ifGate"; readonly gate: string; readonly enabled: boolean; readonly rule: Marker };

/** Parses a marker; undefined if it implies no rule. */
export function parseMarker(text: string): Marker | undefined {
  const simple = simpleMarkers.get(text);
  if (simple !== undefined) return simple;
  const at = text.indexOf("=");
  const called = /^(\w+)\(([^()]*)\)(?:=|$)/.exec(text);
  if (called !== null) return parseCall(called[1] ?? "", unquoted(called[2] ?? ""), text.slice(called[0].length));
  return at < 0 ? undefined : parseSetting(text.slice(0, at), text.slice(at + 1));
}

const simpleMarkers: ReadonlyMap<string, Marker> = new Map<string, Marker>([
  ["required", { kind: "required" }],
  ["forbidden", { kind: "forbidden" }],
  ["immutable", { kind: "immutable" }],
  ["unionMember", { kind: "unionMember" }],
  ["update=NoSet", { kind: "noSet" }],
  ["update=NoUnset", { kind: "noUnset" }],
  ["update=NoModify", { kind: "noModify" }],
  ["unique=set", { kind: "unique", by: "value" }],
  ["listType=set", { kind: "unique", by: "value" }],
  ["unique=map", { kind: "unique", by: "keys" }],
  ["listType=map", { kind: "unique", by: "keys" }],
]);

function parseCall(name: string, argument: string, rest: string): Marker | undefined {
  if (name === "dependentRequired" || name === "dependentForbidden") return { kind: name, other: argument };
  const rule = parseMarker(rest);
  if (rule === undefined) return undefined;
  switch (name) {
    case "subfield":
      return { kind: "subfield", name: argument, rule };
    case "ifEnabled":
      return { kind: "ifGate", gate: argument, enabled: true, rule };
    case "ifDisabled":
      return { kind: "ifGate", gate: argument, enabled: false, rule };
    default:
      return undefined;
  }
}

function parseSetting(name: string, value: string): Marker | undefined {
  switch (name) {
    case "maxItems":
    case "maxLength":
    case "maxBytes":
    case "minimum":
    case "maximum":
      return { kind: name, limit: Number(value) };
    case "format":
      return { kind: "format", format: unquoted(value) };
    case "listMapKey":
      return { kind: "mapKey", name: value };
    case "eachVal":
    case "eachKey": {
      const rule = parseMarker(value);
      return rule && { kind: name === "eachVal" ? "eachValue" : "eachKey", rule };
    }
    default:
      return undefined;
  }
}

function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}
