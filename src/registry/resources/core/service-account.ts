import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";

export const serviceAccountStrategy: Strategy = {
  ...defaultStrategy,
  returnsDeletedObject: true,
};
