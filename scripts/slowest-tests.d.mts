interface Assertion {
  readonly fullName: string;
  readonly ancestorTitles: readonly string[];
  readonly status: string;
  readonly duration?: number | null;
  readonly invocations?: number;
}

interface FileResult {
  readonly name: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly Assertion[];
}

export function slowestTests(result: { readonly testResults?: readonly FileResult[] }, count?: number): string[];
