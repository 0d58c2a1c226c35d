// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A ring buffer in an array of fixed length.
contract Ring {
    uint constant SIZE = 4;
    uint[SIZE] cells;
    uint head;
    uint count;

    function push(uint value) public {
        require(count < SIZE);
        cells[(head + count) % SIZE] = value;
        count += 1;
        assert(count <= SIZE); // expect: safe
    }

    function pop() public returns (uint value) {
        require(count > 0);
        value = cells[head];
        head = (head + 1) % SIZE;
        count -= 1;
        assert(head < SIZE); // expect: safe
    }

    function full() public view {
        assert(count < SIZE); // expect: unsafe
    }
}
