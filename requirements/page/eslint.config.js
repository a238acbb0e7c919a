// Rules of the page's sources. They run from the tools' folder, so what they import is found there.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: globals.browser },
    rules: {
      eqeqeq: "error",
      complexity: ["error", 20],
      "max-lines": ["error", 450],
      "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_" }],
      "prefer-const": "error",
      "no-var": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc"].map((property) => ({ property })),
      ],
    },
  },
];
