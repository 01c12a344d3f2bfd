// plain.mjs - a test is a name and a function that throws.
let passed = 0, failed = 0;
export function must(truth, what) {
  if (!truth) throw new Error(what);
}
export async function test(name, run) {
  if (process.env.PONS_PAGE_ONLY && !name.includes(process.env.PONS_PAGE_ONLY)) return; // for whoever works on one
  try {
    await run();
    passed++;
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n      ${error.stack}`);
  }
}
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
