import { compatibleMinor } from "../../api/release.ts";
import {
  bindingsLibrary,
  celTypes,
  type Environment,
  newEnvironment,
  quantityType,
  type Range,
  recordTypes,
  storedEnvironment,
} from "../../cel/index.ts";

const { anyType, boolType, mapOf, stringType, structOf } = celTypes;

/** Attributes and capacities by domain, then by name. */
const deviceType = structOf("kubernetes.DRADevice");
const deviceFields = {
  driver: stringType,
  allowMultipleAllocations: boolType,
  attributes: mapOf(stringType, mapOf(stringType, anyType)),
  capacity: mapOf(stringType, mapOf(stringType, quantityType)),
};

const [newExpressions, storedExpressions] = [newEnvironment(compatibleMinor), storedEnvironment()].map((base) =>
  base.extend({
    libraries: [bindingsLibrary],
    variables: new Map([["device", deviceType]]),
    provider: recordTypes(new Map([[deviceType, deviceFields]])),
  }),
) as [Environment, Environment];

/** A new expression may use only features that the previous release knows too; a stored one may use all. */
export type ExpressionAge = "new" | "stored";

/** Returns the environment of device selectors. */
export function deviceEnvironment(age: ExpressionAge): Environment {
  return age === "new" ? newExpressions : storedExpressions;
}

/** The maximum size of a value: characters of a string, entries of a map. */
interface Size {
  readonly max: number;
  readonly keys?: Size;
  readonly values?: Size;
  readonly fields?: Readonly<Record<string, Size>>;
}

const entriesMax = 32;
const attribute: Size = { max: 64 };
const attributes: Size = { max: entriesMax, keys: { max: 32 }, values: attribute };
const quantities: Size = { max: entriesMax, keys: { max: 32 }, values: { max: 0 } };
const domain: Size = { max: 63 };
const device: Size = {
  max: 0,
  fields: {
    driver: { max: 63 },
    allowMultipleAllocations: { max: 1 },
    attributes: { max: entriesMax, keys: domain, values: attributes },
    capacity: { max: entriesMax, keys: domain, values: quantities },
  },
};

/** Returns the maximum size of the value at a path from `device`; undefined if it is unknown. */
export function deviceSizeAt([variable, ...names]: readonly string[]): Range | undefined {
  if (variable !== "device") return undefined;
  let size: Size | undefined = device;
  for (const name of names) {
    size = sizeBelow(size, name);
    if (size === undefined) return undefined;
  }
  return { min: 0n, max: BigInt(size.max) };
}

function sizeBelow({ keys, values, fields = {} }: Size, name: string): Size | undefined {
  if (name === "@keys") return keys;
  if (name === "@items" || name === "@values") return values;
  // Every attribute of a domain may be selected as a field.
  return Object.hasOwn(fields, name) ? fields[name] : values === attribute ? attribute : undefined;
}
