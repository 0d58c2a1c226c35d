// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Internal functions, with several results, and calls of the contract's own interface.
contract Internal {
    uint a;
    uint b;

    function divide(uint x, uint y) internal pure returns (uint, uint) {
        require(y > 0);
        return (x / y, x % y);
    }

    function euclid(uint x, uint y) public pure {
        (uint q, uint r) = divide(x, y);
        assert(r < y); // expect: safe
        assert(q <= x); // expect: safe
    }

    function swap() public {
        (a, b) = (b, a);
    }

    function fill(uint x) public {
        a = x;
        b = x + 1;
    }

    function ordered() public {
        this.fill(5);
        this.swap();
        assert(a < b); // expect: unsafe
    }
}
