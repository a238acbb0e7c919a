// What the page itself says, in Spanish.

export default {};
