import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";

type Count = number | bigint;
type Counts<N extends string> = { readonly [K in N]?: Count };

/** Rejects negative counts. */
export function validateCounts<N extends string>(status: Counts<N>, names: readonly N[], field: string): FieldError[] {
  return names.flatMap((name) => validateNotNegative(status[name], `${field}.${name}`));
}

/** Rejects a part of the replicas that is larger than their number, and more available replicas than ready ones. */
export function validateParts<N extends string>(
  status: Counts<N | "replicas" | "availableReplicas" | "readyReplicas">,
  parts: readonly N[],
  field: string,
  readyName = "readyReplicas",
): FieldError[] {
  const { replicas: all = 0, availableReplicas: available = 0, readyReplicas: ready = 0 } = status;
  const errors = parts
    .map((name): [N, Count] => [name, status[name] ?? 0])
    .filter(([, part]) => part > all)
    .map(([name, part]) => fieldError.invalid(`${field}.${name}`, part, "cannot be greater than status.replicas"));
  if (available <= ready) return errors;
  const text = `cannot be greater than ${readyName}`;
  return [...errors, fieldError.invalid(`${field}.availableReplicas`, available, text)];
}

/** Rejects a count that falls: collisions of hashes are counted so that no hash is tried twice. */
export function validateCollisionCount(
  { collisionCount: count }: Counts<"collisionCount">,
  { collisionCount: before }: Counts<"collisionCount">,
  field: string,
): FieldError[] {
  if (before === undefined || (count !== undefined && count >= before)) return [];
  return [fieldError.invalid(`${field}.collisionCount`, count ?? 0, "cannot be decremented")];
}
