// What the page itself says, in German.

export default {};
