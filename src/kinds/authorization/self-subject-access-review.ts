import { action, builtInKind } from "../../registry/kind.ts";
import { reviewAsker } from "./access-review.ts";

export const selfSubjectAccessReview = builtInKind("selfsubjectaccessreviews.authorization.k8s.io", {
  endpoint: action(({ authorizer }) => reviewAsker(authorizer)),
});
