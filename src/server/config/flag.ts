/** A command-line flag. */
export type Flag = {
  readonly group: FlagGroup;
  /** One line with its purpose. */
  readonly help: string;
  /** The placeholder of the value in the help. */
  readonly value?: string;
  readonly short?: string;
} & FlagType;

export type FlagGroup =
  | "Serving"
  | "Storage"
  | "Cluster"
  | "Authentication and authorization"
  | "Audit"
  | "API"
  | "Limits"
  | "Node"
  | "Pods"
  | "Simulated nodes"
  | "Logging";

export type FlagType =
  /** No default means that the option may be absent, or that `resolveOptions` computes it. */
  | { readonly type: "text"; readonly default?: string }
  | { readonly type: "boolean"; readonly default?: boolean }
  | { readonly type: "integer"; readonly default: number; readonly min: number; readonly max: number }
  /** Decimal number, perhaps with a fraction. */
  | { readonly type: "number"; readonly default: number; readonly min: number; readonly max: number }
  /** Duration text; milliseconds in the options, whose name ends in `Ms`. */
  | { readonly type: "duration"; readonly default: number }
  /** Whole seconds on the command line, as upstream does; milliseconds in the options. */
  | { readonly type: "seconds"; readonly default: number; readonly min: number; readonly max: number }
  /** Comma-separated and repeatable. */
  | { readonly type: "texts"; readonly default?: readonly string[] }
  | { readonly type: "choices"; readonly default: readonly string[]; readonly allowed: readonly string[] }
  /** `<key>=<bool>,…`, repeatable, merged. `bare` is the value of a key alone. */
  | { readonly type: "switches"; readonly bare?: boolean };

/** The value of a flag in options. */
export type FlagValue<Type extends Flag["type"]> = Type extends "text"
  ? string
  : Type extends "boolean"
    ? boolean
    : Type extends "choices" | "texts"
      ? readonly string[]
      : Type extends "switches"
        ? Readonly<Record<string, boolean>>
        : number;
