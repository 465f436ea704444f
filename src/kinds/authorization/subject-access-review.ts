import { action, builtInKind } from "../../registry/kind.ts";
import { reviewAnyone } from "./access-review.ts";

export const subjectAccessReview = builtInKind("subjectaccessreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewAnyone(authorizer)),
});
