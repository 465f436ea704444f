import type { TypeDescriptions } from "../../../registry/kind.ts";

const webhookFields = {
  name: "Full name of the webhook.",
  clientConfig: "Where the webhook is.",
  rules: "Requests that it hears of.",
  failurePolicy: "What happens when it cannot be reached: Fail or Ignore.",
  matchPolicy: "Exact, or Equivalent: requests of other versions are converted.",
  namespaceSelector: "Labels of the namespaces that come into question.",
  objectSelector: "Labels of the objects that come into question.",
  sideEffects: "None or NoneOnDryRun.",
  timeoutSeconds: "How long it may take; 10 by default.",
  admissionReviewVersions: "Versions of the request that it understands, the best first.",
  matchConditions: "Expressions that all have to be true.",
};
const policyFields = {
  paramKind: "Kind of the objects with parameters.",
  matchConstraints: "Requests that come into question.",
  variables: "Named expressions, for use in others.",
  failurePolicy: "What an error of an expression means: Fail or Ignore.",
  matchConditions: "Expressions that all have to be true.",
};
const bindingFields = {
  policyName: "The policy.",
  paramRef: "The objects with parameters.",
  matchResources: "Narrows down the requests of the policy.",
};

export const extensionDescriptions: Readonly<Record<string, TypeDescriptions>> = {
  "admissionregistration/v1.MutatingAdmissionPolicy": { "": "Changes objects by expressions before they are stored." },
  "admissionregistration/v1.MutatingAdmissionPolicySpec": {
    "": "Requests and changes.",
    ...policyFields,
    mutations: "The changes.",
    reinvocationPolicy: "Never, or IfNeeded: again when others have changed the object.",
  },
  "admissionregistration/v1.MutatingAdmissionPolicyBinding": { "": "Puts a mutating policy into effect." },
  "admissionregistration/v1.MutatingAdmissionPolicyBindingSpec": { "": "Which policy, where.", ...bindingFields },
  "admissionregistration/v1.MutatingWebhook": {
    "": "A webhook that may change objects.",
    ...webhookFields,
    reinvocationPolicy: "Never, or IfNeeded: again when others have changed the object.",
  },
  "admissionregistration/v1.MutatingWebhookConfiguration": {
    "": "Webhooks that may change objects before they are stored.",
    webhooks: "The webhooks.",
  },
  "admissionregistration/v1.ValidatingAdmissionPolicy": { "": "Checks objects by expressions before they are stored." },
  "admissionregistration/v1.ValidatingAdmissionPolicySpec": {
    "": "Requests and rules.",
    ...policyFields,
    validations: "The rules.",
    auditAnnotations: "What is noted in the audit log.",
  },
  "admissionregistration/v1.ValidatingAdmissionPolicyStatus": {
    "": "What was found about the policy.",
    typeChecking: "Expressions that do not fit the types they are for.",
  },
  "admissionregistration/v1.ValidatingAdmissionPolicyBinding": { "": "Puts a validating policy into effect." },
  "admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec": {
    "": "Which policy, where.",
    ...bindingFields,
    validationActions: "What a broken rule leads to: Deny, Warn or Audit.",
  },
  "admissionregistration/v1.ValidatingWebhook": { "": "A webhook that may refuse objects.", ...webhookFields },
  "admissionregistration/v1.ValidatingWebhookConfiguration": {
    "": "Webhooks that may refuse objects before they are stored.",
    webhooks: "The webhooks.",
  },
  "apiextensions/v1.CustomResourceDefinition": { "": "Adds a kind to the API; its name is <plural>.<group>." },
  "apiextensions/v1.CustomResourceDefinitionSpec": {
    "": "The new kind.",
    group: "Its API group.",
    names: "What it is called.",
    scope: "Cluster or Namespaced.",
    versions: "Its versions, each with a schema.",
    conversion: "How objects go from one version to another.",
    preserveUnknownFields: "No longer used; has to be false.",
  },
  "apiextensions/v1.CustomResourceDefinitionStatus": {
    "": "The observed state.",
    acceptedNames: "The names that it has got.",
    storedVersions: "Versions of which there may be objects in the store.",
  },
  "apiextensions/v1.JSON": { "": "Any JSON value." },
  "apiextensions/v1.JSONSchemaPropsOrArray": { "": "A schema, or a list of schemas." },
  "apiextensions/v1.JSONSchemaPropsOrBool": { "": "A schema, or whether anything is allowed." },
  "apiextensions/v1.JSONSchemaPropsOrStringArray": { "": "A schema, or a list of names." },
  "apiregistration/v1.APIService": { "": "A group version, and who serves it; its name is <version>.<group>." },
  "apiregistration/v1.APIServiceSpec": {
    "": "Which group version, and where it is served.",
    service: "The service that serves it; none for the server itself.",
    group: "The API group.",
    version: "The version.",
    insecureSkipTLSVerify: "Whether the certificate of the service is not checked.",
    caBundle: "Authorities of the certificate of the service, PEM in base64.",
    groupPriorityMinimum: "Rank of the group; the higher, the earlier.",
    versionPriority: "Rank of the version in its group; the higher, the earlier.",
  },
  "apiregistration/v1.APIServiceStatus": { "": "Whether it can be reached." },
};
