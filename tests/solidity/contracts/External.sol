// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// What a call of unknown code can do to a contract.
interface Oracle {
    function price() external returns (uint);
}

contract External {
    Oracle oracle;
    uint last;
    uint reads;

    constructor(Oracle from) {
        oracle = from;
    }

    function read() public {
        uint before = reads;
        last = oracle.price();
        reads = before + 1;
        assert(reads > 0); // expect: safe
    }

    function priced() public {
        uint price = oracle.price();
        assert(price > 0); // expect: unsafe
    }
}
