// What the page itself says, in French.

export default {};
