import type { FieldError } from "../api/field-error.ts";
import { followedBy } from "../process/eventual.ts";
import { objectProblems } from "./object-problems.ts";
import type { Write } from "./write.ts";
import type { RuledWrite } from "./write-rule.ts";

/**
 * Validates the object of a write by the rules of its kind.
 * @param metadataErrors problems of the metadata, which come first
 * @throws StatusError 422, also as a rejection
 */
export function judgeObject(write: Write, metadataErrors: readonly FieldError[]): Promise<void> | void {
  const { kind, object, old, strategy, context } = write;
  if (strategy.examine === undefined) {
    const { info, declarative, writeRule } = kind.parts;
    const version = context.version ?? info;
    const rules = { strategy, version, info, declarative, isLarge: write.isLarge };
    return followedBy(writeRule?.(ruledWrite(write)) ?? [], (ruled) =>
      followedBy(objectProblems(object, old, rules), (problems) =>
        kind.refuseInvalid(object, [...ruled, ...metadataErrors, ...problems]),
      ),
    );
  }
  return followedBy(strategy.examine({ object, old, metadataErrors }), ({ errors, warnings }) => {
    kind.refuseInvalid(object, [...metadataErrors, ...errors]);
    for (const text of warnings) context.warn(text);
  });
}

function ruledWrite({ kind, object, old, namespace, subresource, context }: Write): RuledWrite {
  const { version } = context.version ?? kind.info;
  return { object, old, namespace, subresource, version, user: context.user, verb: context.verb };
}
